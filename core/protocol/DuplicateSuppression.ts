/**
 * Requests that may be duplicates of refused ones. A writer remembers its refusals until its process ends, and only so
 * many of them; for a request that it may have forgotten it starts nothing (decision 0009).
 */
import type { Rejection } from "../base/Rejection.ts";
import type { Step } from "./Step.ts";
import type { Forward } from "./Forward.ts";
import type { Moment } from "./Moment.ts";
import type { PeerId } from "./Topology.ts";
import { unavailable } from "./Unavailable.ts";

/** When a request came in, at the peer that it entered through. */
export type Arrival = Pick<Forward, "entryPeer" | "arrival">;

/**
 * Records when a process of a member first answered a question of this process: requests that came in there before, or
 * at an earlier process there, may have been judged by an earlier process here.
 */
export const noteFirstHeard = (step: Step, from: PeerId, moment: Moment | undefined): void => {
  if (moment === undefined || step.state.requests.forgottenUntil.get(from)?.process === moment.process) return;
  step.edit("requests", "forgottenUntil").set(from, moment);
};

/**
 * The refusal of a request with this arrival is no longer remembered. Requests that came in at another process than the
 * one last heard of start nothing anyway.
 */
export const noteForgotten = (step: Step, { entryPeer, arrival }: Arrival): void => {
  const until = step.state.requests.forgottenUntil.get(entryPeer);
  if (until?.process === arrival.process && until.at < arrival.at)
    step.edit("requests", "forgottenUntil").set(entryPeer, arrival);
};

/**
 * Whether a forwarded request may be a duplicate of one whose refusal this process does not remember: it came in before
 * its entry peer's present process first answered this one, or before one that was forgotten since.
 */
export const isFromBefore = ({ self, state }: Step, { entryPeer, arrival }: Arrival): boolean => {
  const until = state.requests.forgottenUntil.get(entryPeer);
  return entryPeer !== self && (until?.process !== arrival.process || arrival.at <= until.at);
};

export const FORGOTTEN = "it no longer knows what became of requests as old as this one";

/** The answer to it. */
export const forgotten = ({ self }: Step, ref: string | undefined): Rejection =>
  unavailable([{ peerId: self, reason: FORGOTTEN }], ref);
