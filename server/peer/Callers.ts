/** Everybody who waits for this peer: callers with a mutation, those who ask whether it is ready, and its operators. */
import type { Answer } from "../../core/Action.ts";
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import { type MemberFault, rejection } from "../../core/base/Rejection.ts";
import { commands } from "../../core/commands/Commands.ts";
import { leftOpen } from "../../core/protocol/Answers.ts";
import { commandFor } from "../../core/protocol/Command.ts";
import type { Event } from "../../core/protocol/Event.ts";
import type { Call } from "../../core/protocol/Forward.ts";
import { crowded } from "../../core/protocol/Unavailable.ts";
import { CommandGate } from "./CommandGate.ts";
import type { PeerPorts } from "./PeerPorts.ts";
import { Replies } from "./Replies.ts";

/** A probe waits two seconds for its answers; a caller that asks for readiness waits no longer than this. */
const READINESS_MILLIS = 5_000;

/** The answer to a caller whom no step has answered in time. */
const late = rejection(
  "APPROVER_REPLICATION_UNAVAILABLE",
  "This peer has not come to an answer in time.",
  "Repeat the same request; it finds out what became of it.",
);
const lateAnswer: Answer = { _tag: "Rejected", rejection: late };
const crowdedAnswer: Answer = {
  _tag: "Rejected",
  rejection: crowded("This peer has as many requests under way as it may.", undefined),
};

/** Told the name that a request has among the peers, before any of them hears of it. */
export type Named = (requestId: string) => void;

interface CallerPorts extends Pick<PeerPorts, "settings" | "backend"> {
  readonly dispatch: (event: Event, consumed?: () => void) => void;
  /** This peer's id; 0 while it has none. */
  readonly self: () => number;
}

export class Callers {
  readonly #ports: CallerPorts;
  readonly #replies = new Replies();
  readonly #gate = new CommandGate();
  #readiness: Promise<ReadonlyArray<MemberFault>> | undefined;

  constructor(ports: CallerPorts) {
    this.#ports = ports;
  }

  /** The number of pending callers. */
  get waiting(): number {
    return this.#replies.size;
  }

  /** Answers the pending caller with this id. */
  answer(requestId: string, answer: Answer): void {
    this.#replies.answer(requestId, answer);
  }

  /** Hands a fresh request id to `start` and waits as long as any caller; then `detail` is the answer. */
  ask(start: (requestId: string) => void, detail: string, next = late.hint): Promise<Answer> {
    const unknown = rejection(late.code, detail, next, { outcomeUnknown: true });
    return this.#replies.ask(start, this.#ports.settings.answerMillis, { _tag: "Rejected", rejection: unknown });
  }

  /** Asks for a registry mutation; always answered within the configured time. */
  async mutate(call: Call, token: string, actor: ActorCheck, named: Named): Promise<Answer> {
    const { settings, backend } = this.#ports;
    if (this.#gate.size >= settings.capacities.queuedCommands) return crowdedAnswer;
    let isEntered = false;
    const answer = await this.#replies.ask(
      (requestId) =>
        this.#gate.enter((consumed) => {
          // A request whose caller was told meanwhile that it took too long shall not be carried out.
          if (!this.#replies.isWaiting(requestId)) return consumed();
          isEntered = true;
          named(requestId);
          this.#ports.dispatch({ _tag: "Command", requestId, call, token, actor }, consumed);
        }),
      settings.answerMillis,
      lateAnswer,
    );
    if (answer !== lateAnswer) return answer;
    if (!isEntered) return crowdedAnswer;
    const command = commandFor(commands, call);
    if (command === undefined) return { _tag: "Rejected", rejection: late };
    const target = command.targetOf(backend, call) ?? { kind: command.kind, ref: undefined };
    return { _tag: "Rejected", rejection: leftOpen(commands, late, target) };
  }

  /** Why a mutation would not be accepted now; empty when it would. Callers that ask at once share one probe. */
  readiness(): Promise<ReadonlyArray<MemberFault>> {
    this.#readiness ??= this.#askReadiness().finally(() => {
      this.#readiness = undefined;
    });
    return this.#readiness;
  }

  async #askReadiness(): Promise<ReadonlyArray<MemberFault>> {
    const silent = [{ peerId: this.#ports.self(), reason: "it does not answer" }];
    const answer = await this.#replies.ask(
      (requestId) => this.#ports.dispatch({ _tag: "CheckReadiness", requestId }),
      READINESS_MILLIS,
      { _tag: "Readiness", faults: silent },
    );
    return answer._tag === "Readiness" ? answer.faults : silent;
  }
}
