/** What callers have asked for, from their arrival to the answer. */
import type { Rejection } from "../base/Rejection.ts";
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
  /** Whether it is known to be no late copy: when it came, no refusal as old as it had been forgotten. */
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
   * in which of their lives, and how new.
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
