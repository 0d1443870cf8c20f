/**
 * What a feature brings beside commands: tables, requests that end in no proposal, messages, timers, and a part of the
 * state of its own. Agreement runs them and knows none of them.
 */
import type { Either } from "effect";
import type { Answer } from "./Answer.ts";
import type { ActorCheck } from "../auth/ActorCheck.ts";
import type { Awaited, Queued } from "./Requests.ts";
import type { Rejection } from "../base/Rejection.ts";
import type { RowView, Tables } from "./Tables.ts";
import type { Step } from "./Step.ts";
import type { Call, Forward } from "./Forward.ts";
import type { EvaluationContext } from "./EvaluationContext.ts";
import type { Contents, Target } from "./Command.ts";
import type { ModuleMessage } from "./Message.ts";
import type { Mode } from "./Mode.ts";
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

/** Requests of one kind that the members answer without agreeing on a proposal. Another attempt begins anew. */
export interface Exchange<T extends Target = Target> {
  readonly kind: string;
  readonly permission: string;
  recognizes(call: Call): boolean;
  parse(evaluation: Pick<EvaluationContext, "context">, call: Call): Either.Either<T, Rejection>;
  /** At the writer: takes it up; it goes on with the end of this event. */
  accept(step: Step, admitted: Admitted, request: T): void;
  /** At the writer: those that are under way. */
  underWay(step: Step): Iterable<Admitted>;
  /** At the writer, of every forwarded request: gives a copy of one that was answered the same answer; false where there is none. */
  answerAgain(step: Step, forward: Forward): boolean;
  /** At the writer: ends one that has waited too long. */
  giveUp(step: Step, admitted: Admitted): void;
  /** At the writer: ends all of them, and forgets what was answered: whoever asks again begins anew. */
  forgetAll(step: Step, rejected: Rejection): void;
  /** At the entry peer: what its caller is told; undefined where the writer's answer proves nothing. */
  proven(step: Step, awaited: Awaited, request: T, answer: Uint8Array): Answer | undefined;
}

/** A message: its form, and what a member does with it and in which modes; in others it is passed over. */
export interface MessagePart {
  /** Of everything in it but its tag. */
  readonly codec: object;
  readonly modes: ReadonlySet<Mode>;
  // Methods: what handles a narrower message is such a part.
  /** The bearer tokens in it, in the order in which `run` expects what was found out about them. */
  tokensIn(message: ModuleMessage): ReadonlyArray<string>;
  run(step: Step, from: PeerId, message: ModuleMessage, actors: ReadonlyArray<ActorCheck>): void;
}

interface TimerHandler {
  readonly modes: ReadonlySet<Mode>;
  readonly run: (step: Step) => void;
}

export interface Module {
  readonly name: string;
  /** By name, each with the codec of its rows. */
  readonly tables: Tables;
  /** What of these the registry root is over; undefined where it is over none. */
  readonly contents: Contents | undefined;
  readonly slice: Slice<object> | undefined;
  readonly exchanges: ReadonlyArray<Exchange>;
  /** By tag. */
  readonly messages: { readonly [tag: string]: MessagePart };
  /** By name. */
  readonly timers: { readonly [name: string]: TimerHandler };
  /** What waits and may be able to go on; called at the end of every event. */
  readonly goOn: (step: Step) => void;
}
