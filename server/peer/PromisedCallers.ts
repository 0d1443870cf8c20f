/** Everybody who waits for the peer of this process, each by a promise. */
import type { Answer } from "../../core/Action.ts";
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import type { MemberFault } from "../../core/base/Rejection.ts";
import { commands } from "../../core/commands/Commands.ts";
import type { Call } from "../../core/protocol/Forward.ts";
import { type CallerPorts, Callers, gateLimits, type Named } from "../../runtime/Callers.ts";
import { CommandGate } from "../../runtime/CommandGate.ts";
import { Replies } from "../../runtime/Replies.ts";
import { requestNames } from "./Entropy.ts";
import { later } from "./MachineTime.ts";
import type { PeerPorts } from "./PeerPorts.ts";

type Ports = Pick<CallerPorts, "dispatch" | "self"> & Pick<PeerPorts, "settings" | "backend">;

export class PromisedCallers {
  readonly #callers: Callers;

  constructor({ settings, backend, dispatch, self }: Ports) {
    const replies = new Replies({ later, newName: requestNames() });
    const gate = new CommandGate(later, gateLimits(settings.capacities));
    this.#callers = new Callers({ settings, commands, means: backend, replies, gate, dispatch, self });
  }

  /** The number of pending callers. */
  get waiting(): number {
    return this.#callers.waiting;
  }

  /** Answers the pending caller of this request. */
  answer(requestId: string, answer: Answer): void {
    this.#callers.answer(requestId, answer);
  }

  /** See {@link Callers.ask}. */
  ask(start: Named, detail: string, next?: string): Promise<Answer> {
    return new Promise((resolve) => this.#callers.ask(start, resolve, detail, next));
  }

  /** See {@link Callers.mutate}; a caller that is `gone` gives it up. */
  mutate(
    call: Call,
    token: string,
    actor: ActorCheck,
    named: Named = () => undefined,
    gone?: AbortSignal,
  ): Promise<Answer> {
    return new Promise((resolve) => {
      const giveUp = this.#callers.mutate({ call, token, actor }, named, resolve);
      gone?.addEventListener("abort", giveUp, { once: true });
    });
  }

  /** See {@link Callers.readiness}. */
  readiness(): Promise<ReadonlyArray<MemberFault>> {
    return new Promise((resolve) => this.#callers.readiness(resolve));
  }
}
