/**
 * A request that entered here, recognized by the proposal that names it. So this
 * peer knows what it has signed for the request, and that it was applied or
 * aborted, whatever the writer says.
 */
import { Limits } from "../base/Limits.ts";
import type { Awaited } from "./Requests.ts";
import type { Rejection } from "../base/Rejection.ts";
import type { Step } from "./Step.ts";
import { leftOpen } from "./Answers.ts";
import { type Forward, isSameRequest } from "./Forward.ts";
import type { Proposal } from "./Proposal.ts";
import { busy } from "./Unavailable.ts";

/** Whether this peer has prepared the proposal of a request, and does not know how it ended. */
export const hasSignedFor = ({ state }: Step, forward: Forward): boolean => {
  for (const { proposal } of state.undecided.preparations.values()) if (isSameRequest(proposal, forward)) return true;
  return false;
};

const awaitedFor = ({ self, state }: Step, { entryPeer, requestId }: Proposal): Awaited | undefined =>
  entryPeer === self ? state.requests.awaited.get(requestId) : undefined;

/**
 * Remembers that a change was applied whose caller waits here. The writer may judge a later copy of the request after
 * every member has applied the change, and find the revision that the request itself has made.
 */
export const noteApplied = (step: Step, proposal: Proposal): void => {
  const awaited = awaitedFor(step, proposal);
  if (awaited === undefined) return;
  const applied = { ...awaited, isApplied: true };
  if (awaited.denial === undefined) step.edit("requests", "awaited").set(proposal.requestId, applied);
  else denyOwn(step, applied, awaited.denial);
};

/** The proposal that this peer had signed for is aborted, so a held-back "no" is certain. */
export const noteAborted = (step: Step, proposal: Proposal): void => {
  const awaited = awaitedFor(step, proposal);
  if (awaited?.denial !== undefined) denyOwn(step, awaited, awaited.denial);
};

/**
 * Tells a caller that the writer turns it away. This peer signs for no request that it has answered with a certain
 * "no"; where it cannot remember that for as long as it matters, it leaves the outcome open.
 */
export const denyOwn = (step: Step, awaited: Awaited, said: Rejection): void => {
  const { requestId } = awaited.forward;
  const no = denied(step, awaited, said);
  step.edit("requests", "awaited").delete(requestId);
  const told =
    no.outcomeUnknown || noteDenied(step, requestId) ? no : leftOpen(step.context.commands, no, awaited.request);
  step.reply(requestId, { _tag: "Rejected", rejection: told });
};

/** A proposal is made within a minute of the request's arrival, and signed for within another one. */
const DENIED_MILLIS = 2 * Limits.proposalMillis;

/** Remembers a denial; false where an earlier one would be forgotten too early. */
const noteDenied = (step: Step, requestId: string): boolean => {
  const [oldest] = step.state.requests.denied;
  const isFull = step.state.requests.denied.size >= step.capacities.denialsRemembered;
  if (isFull && oldest !== undefined && step.elapsed - oldest[1] < DENIED_MILLIS) return false;
  const known = step.edit("requests", "denied");
  if (isFull && oldest !== undefined) known.delete(oldest[0]);
  known.delete(requestId);
  known.set(requestId, step.elapsed);
  return true;
};

/** Whether this peer has told the caller of a request for certain that nothing was done. */
export const hasDenied = ({ self, state }: Step, { entryPeer, requestId }: Forward): boolean =>
  entryPeer === self && state.requests.denied.has(requestId);

/**
 * The answer to a caller that the writer turns away: no refusal counts against a change that was applied here before.
 * For an open outcome, this peer knows the approver, and the writer may not: a finish does not name it.
 */
const denied = (step: Step, { request, isApplied }: Awaited, said: Rejection): Rejection => {
  if (said.outcomeUnknown) return leftOpen(step.context.commands, said, request);
  if (!isApplied) return said;
  return leftOpen(
    step.context.commands,
    busy("This very request has made the change, and the writer says otherwise.", request.ref),
    request,
  );
};
