/** What callers have asked for, from their arrival to the answer. */
import type { Rejection } from "../base/Rejection.ts";
import { noPace, type Pace } from "./Admission.ts";
import type { Intent, Target } from "./Command.ts";
import type { Call, Forward } from "./Forward.ts";
import type { Moment } from "./Moment.ts";
import type { Actor } from "./Proposal.ts";
import type { PeerId } from "./Topology.ts";

/** What callers ask for: a change, or what a module answers without one. */
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

/** Who waits for an answer of the writer: no body, no token. */
export interface Caller {
  readonly entryPeer: PeerId;
  readonly requestId: string;
  /** When it came in there. */
  readonly arrival: Moment;
  /** What it asks for, as far as the request could be understood. */
  readonly target: Target | undefined;
  /** Monotonic milliseconds. */
  readonly arrivedAt: number;
}

/** A forwarded request that was refused, and what its caller was told. */
export interface TurnedAway extends Pick<Caller, "arrival"> {
  readonly rejection: Rejection;
}

/** A request that entered here and waits for its turn to be forwarded: the writer knows nothing of it. */
export interface Entering {
  readonly requestId: string;
  readonly call: Call;
  readonly token: string;
  /** Who sends it, as places are shared (Admission.ts). */
  readonly actor: string;
  readonly request: Request;
  /** Monotonic milliseconds. */
  readonly arrivedAt: number;
}

/** A request that entered here and was forwarded to the writer. */
export interface Awaited {
  readonly forward: Forward;
  readonly actor: string;
  /** Which forward of this process it is, from 1. */
  readonly serial: number;
  /** What it asks for, as this peer understood it. */
  readonly request: Request;
  readonly acknowledged: boolean;
  /** What it has led to was applied here: what the writer says of a later copy is not the last word. */
  readonly isApplied: boolean;
  /** The writer's certain no, held back while this peer has itself signed for the request. */
  readonly denial: Rejection | undefined;
  /**
   * Once the writer has said that the approver was there before: the members that say themselves that they store it,
   * in which of their incarnations, and how new.
   */
  readonly storedAt: ReadonlyMap<PeerId, { readonly incarnation: number; readonly revision: number }> | undefined;
  /** Monotonic milliseconds: when it came, when it was forwarded first, and when last. */
  readonly arrivedAt: number;
  readonly forwardedAt: number;
  readonly sentAt: number;
}

/** The same request, taken up by the writer. */
export const takenUp = (awaited: Awaited): Awaited => ({
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

/** Everybody who waits for an answer of this peer, at the writer and at the entry peer, and what it remembers of them. */
export interface Requests {
  readonly queue: ReadonlyArray<Queued>;
  /** Forwarded requests refused for the state of the cluster, the newest ones of each entry peer, by request id. */
  readonly turnedAway: ReadonlyMap<PeerId, ReadonlyMap<string, TurnedAway>>;
  /**
   * Up to when requests that came in through each member may have been refused without this process remembering it, in
   * the present process of that member; at any time in others, or where there is no entry.
   */
  readonly forgottenUntil: ReadonlyMap<PeerId, Moment>;
  /** In the order in which they came. */
  readonly entering: ReadonlyArray<Entering>;
  /** Requests forwarded by this process. */
  readonly forwarded: number;
  /** How fast the line moves here: that of the writer, or of what waits to be forwarded to it. */
  readonly pace: Pace;
  readonly awaited: ReadonlyMap<string, Awaited>;
  /** The newest requests that entered here and were denied for certain, oldest first, and when: monotonic milliseconds. */
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
