/**
 * A request that entered here, found again in what comes back: its proposal
 * names it. So this peer knows what it has signed for it, and that it was
 * applied or aborted, whatever the writer says.
 */
import { Limits } from "../base/Limits.ts";
import type { Awaited } from "./Requests.ts";
import type { Rejection } from "../base/Rejection.ts";
import type { Turn } from "./Turn.ts";
import { leftOpen } from "./Answers.ts";
import { type Forward, isSameRequest } from "./Forward.ts";
import type { Proposal } from "./Proposal.ts";
import { busy } from "./Unavailable.ts";

/** Whether this peer has prepared what a request has led to, and does not know how it ended. */
export const hasSignedFor = ({ state }: Turn, forward: Forward): boolean => {
  for (const { proposal } of state.undecided.preparations.values()) if (isSameRequest(proposal, forward)) return true;
  return false;
};

const awaitedFor = ({ self, state }: Turn, { entryPeer, requestId }: Proposal): Awaited | undefined =>
  entryPeer === self ? state.requests.awaited.get(requestId) : undefined;

/**
 * Remembers that a change was applied whose caller waits here. The writer may look at a later copy of the request
 * when every member has applied it, and meet the revision that the request itself has made.
 */
export const noteApplied = (turn: Turn, proposal: Proposal): void => {
  const awaited = awaitedFor(turn, proposal);
  if (awaited === undefined) return;
  const applied = { ...awaited, isApplied: true };
  if (awaited.denial === undefined) turn.edit("requests", "awaited").set(proposal.requestId, applied);
  else turnAway(turn, applied, awaited.denial);
};

/** What this peer had signed for has come to its end, so a certain no is one. */
export const noteAborted = (turn: Turn, proposal: Proposal): void => {
  const awaited = awaitedFor(turn, proposal);
  if (awaited?.denial !== undefined) turnAway(turn, awaited, awaited.denial);
};

/**
 * Tells a caller that the writer turns it away. Whom this peer tells a certain no, it signs for no more; where it cannot
 * remember that for as long as it matters, it leaves the outcome open.
 */
export const turnAway = (turn: Turn, awaited: Awaited, said: Rejection): void => {
  const { requestId } = awaited.forward;
  const no = denied(turn, awaited, said);
  turn.edit("requests", "awaited").delete(requestId);
  const told =
    no.outcomeUnknown || noteDenied(turn, requestId) ? no : leftOpen(turn.context.commands, no, awaited.request);
  turn.reply(requestId, { _tag: "Rejected", rejection: told });
};

/** A proposal is made within a minute of the request's arrival, and signed for within another one. */
const DENIED_MILLIS = 2 * Limits.proposalMillis;

/** False where that would make it forget a denial too early. */
const noteDenied = (turn: Turn, requestId: string): boolean => {
  const [oldest] = turn.state.requests.denied;
  const isFull = turn.state.requests.denied.size >= Limits.denialsRemembered;
  if (isFull && oldest !== undefined && turn.elapsed - oldest[1] < DENIED_MILLIS) return false;
  const known = turn.edit("requests", "denied");
  if (isFull && oldest !== undefined) known.delete(oldest[0]);
  known.delete(requestId);
  known.set(requestId, turn.elapsed);
  return true;
};

/** Whether this peer has told the caller of a request that came in here for certain that nothing was done. */
export const hasDenied = ({ self, state }: Turn, { entryPeer, requestId }: Forward): boolean =>
  entryPeer === self && state.requests.denied.has(requestId);

/**
 * What a caller is told whom the writer turns away: nothing counts against what was applied here before. Of what the
 * writer leaves open, this peer knows the approver, and the writer may not: a finish does not name it.
 */
const denied = (turn: Turn, { request, isApplied }: Awaited, said: Rejection): Rejection => {
  if (said.outcomeUnknown) return leftOpen(turn.context.commands, said, request);
  if (!isApplied) return said;
  return leftOpen(
    turn.context.commands,
    busy("This very request has made the change, and the writer says otherwise.", request.ref),
    request,
  );
};
