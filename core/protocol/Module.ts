/**
 * The parts of a feature besides its commands: tables, requests that end in no proposal, messages, timers, and its own
 * part of the state. Agreement runs them and knows none of them.
 */
import type { Either } from "effect";
import type { Answer } from "./Answer.ts";
import type { ActorClaims } from "../auth/ActorClaims.ts";
import type { ActorCheck } from "../auth/ActorCheck.ts";
import type { Awaited, Queued } from "./Requests.ts";
import type { Rejection } from "../base/Rejection.ts";
import type { RowView, Tables } from "./Tables.ts";
import type { Step } from "./Step.ts";
import type { Call, Forward } from "./Forward.ts";
import type { EvaluationContext } from "./EvaluationContext.ts";
import type { StepContext } from "./Event.ts";
import type { Contents, Target } from "./Command.ts";
import type { ModuleMessage } from "./Message.ts";
import type { Mode } from "./Mode.ts";
import type { Supplies } from "./Supplies.ts";
import type { PeerId } from "./Topology.ts";

/** A module's part of the state: maps and sets, by name. */
export interface Slice<S> {
  readonly name: string;
  /** Of a peer that remembers nothing. */
  readonly empty: S;
  /** Of a peer that has just started. */
  readonly boot: (view: RowView) => S;
}

/** A request at the writer that was judged well-formed and permitted. */
export type Admitted = Pick<Queued, "forward" | "actor" | "tokenExpiresAt" | "arrivedAt">;

/** Requests of one kind that the members answer without agreeing on a proposal. A repeated request begins anew. */
export interface Exchange<T extends Target = Target> {
  readonly kind: string;
  permissionsOf(call: Call): ReadonlyArray<string>;
  recognizes(call: Call): boolean;
  parse(evaluation: Pick<EvaluationContext, "context">, call: Call): Either.Either<T, Rejection>;
  /** At the writer: accepts it; it goes on with the end of this event. */
  accept(step: Step, admitted: Admitted, request: T): void;
  /** At the writer: those that are under way. */
  underWay(step: Step): Iterable<Admitted>;
  /** At the writer, for every forwarded request: repeats the answer to a copy; false where there was none. */
  answerAgain(step: Step, forward: Forward): boolean;
  /** At the writer: ends one that has waited too long. */
  giveUp(step: Step, admitted: Admitted): void;
  /** At the writer: ends all of them, and forgets the answers given: a repeated request begins anew. */
  forgetAll(step: Step, rejected: Rejection): void;
  /** At the entry peer: the answer to its caller; undefined where the writer's answer proves nothing. */
  proven(step: Step, awaited: Awaited, request: T, answer: Uint8Array): Answer | undefined;
}

/** A request whose caller waits here, with what was found of its bearer. */
export interface Served {
  readonly requestId: string;
  readonly call: Call;
  readonly token: string;
  readonly claims: ActorClaims;
}

/**
 * Requests that the peer they came to answers by itself or with the help of some members: nothing goes to the writer,
 * and nothing is agreed on.
 */
export interface Service {
  readonly kind: string;
  /** The longest body. */
  readonly bodyBytes: number;
  recognizes(call: Call): boolean;
  permissionsOf(call: Call): ReadonlyArray<string>;
  /** Answers it now, or later within the time that callers are promised; what waits is bounded by the service. */
  accept(step: Step, served: Served): void;
  /** The refusal of a peer that takes part in nothing, for this reason; absent where it is that of a change. */
  notHere?(self: PeerId, reason: string): Rejection;
}

/** A message: its form, its handler, and the modes in which the handler runs; in others the message is passed over. */
export interface MessagePart {
  /** Of everything in the message but its tag. */
  readonly codec: object;
  readonly modes: ReadonlySet<Mode>;
  // Methods, not functions: a part that handles a narrower message is such a part.
  /** The bearer tokens in it, in the order in which `run` expects the results of checking them. */
  tokensIn(message: ModuleMessage): ReadonlyArray<string>;
  run(step: Step, from: PeerId, message: ModuleMessage, actors: ReadonlyArray<ActorCheck>): void;
}

interface TimerHandler {
  readonly modes: ReadonlySet<Mode>;
  readonly run: (step: Step) => void;
}

export interface Module {
  readonly name: string;
  /** What it lets callers do; undefined for a part of what is always there. */
  readonly supplies: Supplies | undefined;
  /** By name, each with the codec of its rows. */
  readonly tables: Tables;
  /** The part of these that the registry root covers; undefined where it covers none. */
  readonly contents: Contents | undefined;
  readonly slice: Slice<object> | undefined;
  readonly exchanges: ReadonlyArray<Exchange>;
  readonly services: ReadonlyArray<Service>;
  /** By tag. */
  readonly messages: { readonly [tag: string]: MessagePart };
  /** By name. */
  readonly timers: { readonly [name: string]: TimerHandler };
  /** Names, at most so many, of what it has that no promotion can carry; absent where all of it moves. */
  readonly unpromotable?: (context: StepContext, limit: number) => ReadonlyArray<string>;
  /**
   * Erases rows of its own that the registry does not bear out, one that was taken over from all members; absent where it
   * has none. Before that nothing of the kind goes: what a restored peer is offered may be false.
   *
   * @param after of the rows, the last one that an earlier call has looked at
   * @param limit how many are looked at
   * @returns the last one looked at; undefined where there are no more
   */
  readonly sweep?: (step: Step, after: string, limit: number) => string | undefined;
  /** Continues what waits, where it can go on; called at the end of every event. */
  readonly goOn: (step: Step) => void;
}
