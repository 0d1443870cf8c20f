/** Everybody who waits for this peer: callers with a mutation, those who ask whether it is ready, and its operators. */
import type { Answer } from "../core/Action.ts";
import type { ActorCheck } from "../core/auth/ActorCheck.ts";
import type { Capacities } from "../core/base/Capacities.ts";
import { type MemberFault, rejection } from "../core/base/Rejection.ts";
import { actorName } from "../core/protocol/Admission.ts";
import { leftOpen } from "../core/protocol/Answers.ts";
import { commandFor, type Commands, type Means, serviceFor } from "../core/protocol/Command.ts";
import type { Event, Settings } from "../core/protocol/Event.ts";
import type { Call } from "../core/protocol/Forward.ts";
import type { PeerId } from "../core/protocol/Topology.ts";
import { crowded } from "../core/protocol/Unavailable.ts";
import type { CommandGate, Enter, GateLimits } from "./CommandGate.ts";
import type { Replies } from "./Replies.ts";

/** A probe waits two seconds for its answers; a caller that asks for readiness waits no longer than this. */
const READINESS_MILLIS = 5_000;

/** The answer to a caller whom no step has answered in time. */
const late = rejection(
  "APPROVER_REPLICATION_UNAVAILABLE",
  "This peer has not come to an answer in time.",
  "Repeat the same request; it finds out what became of it.",
);
const lateAnswer: Answer = { _tag: "Rejected", rejection: late };
/** Of what is served and leaves nothing behind that the same request would find: a signature, a repair. */
const startedAnswer: Answer = {
  _tag: "Rejected",
  rejection: rejection(late.code, late.detail, "It may be carried out all the same; each repetition begins anew.", {
    outcomeUnknown: true,
  }),
};
const crowdedAnswer: Answer = {
  _tag: "Rejected",
  rejection: crowded("As many requests wait at this peer as may.", undefined),
};

/** Told the name that a request has among the peers, before any of them hears of it. */
export type Named = (requestId: string) => void;

/** A mutation, and whom its token speaks for. */
export interface Mutation {
  readonly call: Call;
  readonly token: string;
  readonly actor: ActorCheck;
}

/** Who shares places at the gate; all whose tokens show nobody are one caller. */
const callerOf = (actor: ActorCheck): string => (actor._tag === "Verified" ? actorName(actor.claims) : "");

/** Why a change would not be accepted now; empty when it would. */
type Readiness = (faults: ReadonlyArray<MemberFault>) => void;

/** The gate's share of what a peer takes on. */
export const gateLimits = ({ commandsAtOnce, queuedCommands }: Capacities): GateLimits => ({
  inside: commandsAtOnce,
  places: queuedCommands,
});

export interface CallerPorts {
  readonly settings: Pick<Settings, "answerMillis" | "capacities">;
  readonly commands: Commands;
  readonly means: Means;
  readonly replies: Replies;
  readonly gate: CommandGate;
  readonly dispatch: (event: Event, consumed?: () => void) => void;
  /** This peer's id; 0 while it has none. */
  readonly self: () => PeerId;
}

export class Callers {
  readonly #ports: CallerPorts;
  /** Those who have asked whether it is ready since the last answer. */
  readonly #readiness: Array<Readiness> = [];

  constructor(ports: CallerPorts) {
    this.#ports = ports;
  }

  /** The number of pending callers. */
  get waiting(): number {
    return this.#ports.replies.size;
  }

  /** Answers the pending caller of this request. */
  answer(requestId: string, answer: Answer): void {
    this.#ports.replies.answer(requestId, answer);
  }

  /**
   * Hands the name of a new request to `start`; its caller waits as long as any, and is then told `detail`, and `next` to
   * do.
   */
  ask(start: Named, done: (answer: Answer) => void, detail: string, next = late.hint): void {
    const unknown = rejection(late.code, detail, next, { outcomeUnknown: true });
    const { replies, settings } = this.#ports;
    replies.ask(start, settings.answerMillis, { _tag: "Rejected", rejection: unknown }, done);
  }

  /**
   * Asks for a registry mutation; always answered within the configured time.
   *
   * @returns gives it up, if it has not reached the driver; nothing of it is kept then
   */
  mutate(mutation: Mutation, named: Named, done: (answer: Answer) => void): () => void {
    const { settings, gate, replies, dispatch } = this.#ports;
    let isEntered = false;
    let leave = (): void => undefined;
    let giveUp = (): void => undefined;
    replies.ask(
      (requestId) => {
        const enter: Enter = (consumed) => {
          isEntered = true;
          named(requestId);
          dispatch({ _tag: "Command", requestId, ...mutation }, consumed);
        };
        const turnedAway = (): void => replies.answer(requestId, crowdedAnswer);
        leave = gate.enter(callerOf(mutation.actor), enter, turnedAway);
        giveUp = () => void (isEntered || turnedAway());
      },
      settings.answerMillis,
      lateAnswer,
      (answer) => {
        // A request whose caller was told that it took too long shall not be carried out.
        leave();
        done(answer !== lateAnswer ? answer : isEntered ? this.#open(mutation.call) : crowdedAnswer);
      },
    );
    return giveUp;
  }

  /** Tells why a mutation would not be accepted now. Callers that ask at once share one probe. */
  readiness(done: Readiness): void {
    this.#readiness.push(done);
    if (this.#readiness.length > 1) return;
    const { replies, dispatch, self } = this.#ports;
    const silent = [{ peerId: self(), reason: "it does not answer" }];
    replies.ask(
      (requestId) => dispatch({ _tag: "CheckReadiness", requestId }),
      READINESS_MILLIS,
      { _tag: "Readiness", faults: silent },
      (answer) => {
        const faults = answer._tag === "Readiness" ? answer.faults : silent;
        for (const each of this.#readiness.splice(0)) each(faults);
      },
    );
  }

  /** Nobody knows what becomes of a request that has reached the driver. */
  #open(call: Call): Answer {
    const { commands, means } = this.#ports;
    const command = commandFor(commands, call);
    if (command === undefined) return serviceFor(commands, call) === undefined ? lateAnswer : startedAnswer;
    const target = command.targetOf(means, call) ?? { kind: command.kind, ref: undefined };
    return { _tag: "Rejected", rejection: leftOpen(commands, late, target) };
  }
}
