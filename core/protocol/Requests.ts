/** Callers' requests, from their arrival to the answer. */
import type { Rejection } from "../base/Rejection.ts";
import { noPace, type Pace } from "./Admission.ts";
import type { Intent, Target } from "./Command.ts";
import type { Call, Forward } from "./Forward.ts";
import type { Moment } from "./Moment.ts";
import type { Actor } from "./Proposal.ts";
import type { PeerId } from "./Topology.ts";

/** A request: for a change, or for an answer of a module without one. */
export type Request = Intent | Target;

/** A caller's request at the writer, judged well-formed and permitted, waiting for its round. */
export interface Queued {
  readonly forward: Forward;
  readonly actor: Actor;
  readonly tokenExpiresAt: number;
  readonly intent: Intent;
  /** Whether it is known to be no duplicate: when it came, no refusal as old as it had been forgotten. */
  readonly isFirst: boolean;
  /** Monotonic milliseconds. */
  readonly arrivedAt: number;
}

/** The caller of a request at the writer: no body, no token. */
export interface Caller {
  readonly entryPeer: PeerId;
  readonly requestId: string;
  /** When it came in there. */
  readonly arrival: Moment;
  /** The target of the request, as far as it could be understood. */
  readonly target: Target | undefined;
  /** Monotonic milliseconds. */
  readonly arrivedAt: number;
}

/** A forwarded request that was refused, and the answer its caller got. */
export interface TurnedAway extends Pick<Caller, "arrival"> {
  readonly rejection: Rejection;
}

/** A request that entered here and waits for its turn to be forwarded: the writer knows nothing of it. */
export interface Entering {
  readonly requestId: string;
  readonly call: Call;
  readonly token: string;
  /** Its actor, as places are shared (Admission.ts). */
  readonly actor: string;
  readonly request: Request;
  /** Monotonic milliseconds. */
  readonly arrivedAt: number;
}

/** A request that entered here and was forwarded to the writer. */
export interface Awaited {
  readonly forward: Forward;
  readonly actor: string;
  /** The number of the forward in this process, from 1. */
  readonly serial: number;
  /** The request as this peer understood it. */
  readonly request: Request;
  readonly acknowledged: boolean;
  /** Its proposal was applied here: what the writer says of a later copy is not the last word. */
  readonly isApplied: boolean;
  /** The writer's certain "no", held back while this peer has itself signed for the request. */
  readonly denial: Rejection | undefined;
  /**
   * Once the writer has said that the approver existed before: the members that say so themselves, each with its
   * incarnation and the revision that it stores.
   */
  readonly storedAt: ReadonlyMap<PeerId, { readonly incarnation: number; readonly revision: number }> | undefined;
  /** Monotonic milliseconds: when it came, when it was forwarded first, and when last. */
  readonly arrivedAt: number;
  readonly forwardedAt: number;
  readonly sentAt: number;
}

/** The same request, accepted by the writer. */
export const acceptedByWriter = (awaited: Awaited): Awaited => ({
  forward: awaited.forward,
  actor: awaited.actor,
  serial: awaited.serial,
  request: awaited.request,
  acknowledged: true,
  isApplied: awaited.isApplied,
  denial: awaited.denial,
  storedAt: awaited.storedAt,
  arrivedAt: awaited.arrivedAt,
  forwardedAt: awaited.forwardedAt,
  sentAt: awaited.sentAt,
});

/** All pending callers of this peer, at the writer and at the entry peer, and what it remembers of answered ones. */
export interface Requests {
  readonly queue: ReadonlyArray<Queued>;
  /** Forwarded requests refused for the state of the cluster, the newest ones of each entry peer, by request id. */
  readonly turnedAway: ReadonlyMap<PeerId, ReadonlyMap<string, TurnedAway>>;
  /**
   * For each member, up to when requests that came in there may have been refused and the refusal forgotten by this
   * process. Holds for that member's present process; in its others, or without an entry, this may be so at any time.
   */
  readonly forgottenUntil: ReadonlyMap<PeerId, Moment>;
  /** In the order in which they came. */
  readonly entering: ReadonlyArray<Entering>;
  /** Requests forwarded by this process. */
  readonly forwarded: number;
  /** The pace of the line here: that of the writer, or of requests that wait to be forwarded to it. */
  readonly pace: Pace;
  readonly awaited: ReadonlyMap<string, Awaited>;
  /** The newest requests that entered here and got a certain "no", oldest first, each with its monotonic time. */
  readonly denied: ReadonlyMap<string, number>;
}

export const noRequests = (): Requests => ({
  queue: [],
  turnedAway: new Map(),
  forgottenUntil: new Map(),
  entering: [],
  forwarded: 0,
  pace: noPace,
  awaited: new Map(),
  denied: new Map(),
});
