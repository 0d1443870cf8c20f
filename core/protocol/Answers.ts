/** How the writer answers: a caller of its own at once, a forwarded one through its entry peer. */
import type { Answer } from "../Action.ts";
import type { Caller, PeerState, Queued, Round } from "../PeerState.ts";
import { approverRow } from "../registry/ApproverRow.ts";
import { completionOf, type Response } from "../enrollment/Completion.ts";
import { noteConflict } from "../enrollment/FinishAttempts.ts";
import type { Target } from "../registry/Request.ts";
import type { Rejection, RejectionCode } from "../Rejection.ts";
import type { Rows } from "../Tables.ts";
import type { Turn } from "../Turn.ts";
import { refusalsRemembered } from "./Admission.ts";
import type { Forward } from "./Forward.ts";
import { isFromBefore, noteForgotten } from "./LateCopy.ts";
import type { Message, Outcome } from "./Message.ts";
import { metadataLock, type Proposal, refLock, sessionLock } from "./Proposal.ts";
import { unreadiness } from "./Readiness.ts";
import { type SignedStatement, signerOf } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";

export const callerOf = (forward: Forward, arrivedAt: number, asked: Target | undefined): Caller => ({
  entryPeer: forward.entryPeer,
  requestId: forward.requestId,
  arrival: forward.arrival,
  ref: asked?.ref,
  baseRevision: asked?.baseRevision,
  response: asked?.response,
  arrivedAt,
});

export const callerOfQueued = ({ forward, arrivedAt, mutation }: Queued): Caller =>
  callerOf(forward, arrivedAt, mutation);

/** Everybody who waits for a round's end. */
export const callersOf = ({ creator, joiners }: Pick<Round, "creator" | "joiners">): ReadonlyArray<Caller> => {
  const joined = joiners.map(callerOfQueued);
  return creator === undefined ? joined : [creator, ...joined];
};

const answer = (
  turn: Turn,
  { entryPeer, requestId }: Caller,
  own: Answer,
  forwarded: Outcome,
  flushed = false,
): void => {
  if (entryPeer === turn.self) return flushed ? turn.replyFlushed(requestId, own) : turn.reply(requestId, own);
  const message: Message = { _tag: "Outcome", requestId, outcome: forwarded };
  if (flushed) turn.sendFlushed(message, [entryPeer]);
  else turn.send(entryPeer, message);
};

/** What is under way under a lock: prepared, or applied and not acknowledged by all. */
export const underWay = ({ locks, preparations, outbox }: PeerState, lock: string): Proposal | undefined => {
  const holder = locks.get(lock);
  if (holder === undefined) return undefined;
  const prepared = preparations.get(holder);
  if (prepared !== undefined) return prepared.proposal;
  for (const { id, proposal } of outbox.values()) if (id === holder) return proposal;
  return undefined;
};

/** Whether a proposal is there because of this very response. */
export const isOfResponse = (
  proposal: Proposal | undefined,
  { response }: { readonly response: Response | undefined },
): boolean => proposal !== undefined && proposal.effects.responseDigest === response?.responseDigest;

/** What is reserved here for this very response: then nobody may say that nothing was done, whatever is wrong with a copy. */
export const reservedFor = (state: PeerState, response: Response): Proposal | undefined => {
  const open = underWay(state, sessionLock(response.registrationId));
  return isOfResponse(open, { response }) ? open : undefined;
};

/** Whether this very response is reserved, or was applied where the rejected request may be a copy of the one that did it. */
const mayHaveFinished = ({ self, state, context }: Turn, entryPeer: PeerId, response: Response): boolean => {
  const { registrationId, responseDigest } = response;
  if (reservedFor(state, response) !== undefined) return true;
  return entryPeer !== self && completionOf(context.view, registrationId)?.responseDigest === responseDigest;
};

/**
 * Whether nothing that this peer can read tells what became of a forwarded request: its rows do not hold; or an
 * earlier process had the request, and nobody has shown this one yet that its rows are not of before that.
 */
const isBeyondMemory = (turn: Turn, caller: Caller): boolean =>
  caller.entryPeer !== turn.self &&
  (turn.state.integrityFault !== undefined || (isFromBefore(turn, caller) && unreadiness(turn) !== undefined));

/**
 * Whether something that a rejected request asked for is reserved or applied here all the same: then no answer may
 * say that nothing is. For a registration that is whatever is reserved of its approver; what is applied counts for a
 * forwarded one only, as it may be a copy whose first answer was lost. A replacement is done by itself alone, so only
 * a copy of it counts, and once all members have applied it its entry peer knows better than the writer.
 */
const mayStand = (turn: Turn, caller: Caller): boolean => {
  const { self, state, context } = turn;
  const { entryPeer, ref, baseRevision, response } = caller;
  if (response !== undefined) return isBeyondMemory(turn, caller) || mayHaveFinished(turn, entryPeer, response);
  if (ref === undefined) return false;
  if (isBeyondMemory(turn, caller)) return true;
  if (baseRevision !== undefined) {
    const open = entryPeer === self ? undefined : underWay(state, metadataLock(ref));
    return open?.entryPeer === entryPeer && open.effects.baseRevision === baseRevision;
  }
  const holder = state.locks.get(refLock(ref));
  if (holder !== undefined) return !state.aborting.has(holder);
  return entryPeer !== self && context.view.get("approvers", ref) !== undefined;
};

/**
 * The same rejection where the request may have been done all the same. Repeating a registration finds out; a
 * replacement that was done has taken its own base away. Either way the answer names the approver, as far as it is
 * known. A session whose invitation nobody was told is as good as none.
 */
export const leftOpen = (
  rejection: Rejection,
  asked: Pick<Target, "baseRevision" | "ref"> & Partial<Pick<Target, "kind">>,
): Rejection => {
  if (asked.kind === "OPTIONS") return rejection;
  const hint =
    asked.baseRevision === undefined ? rejection.hint : "Read the approver: its revision tells what became of it.";
  return { ...rejection, ref: rejection.ref ?? asked.ref, outcomeUnknown: true, hint };
};

/** The caller of a finish with the approver that its response leads to, as far as something is reserved for it. */
const named = ({ state }: Turn, caller: Caller): Caller => {
  const { ref, response } = caller;
  if (ref !== undefined || response === undefined) return caller;
  return { ...caller, ref: reservedFor(state, response)?.effects.ref };
};

/** How sure it is that a later copy of a request would be refused for the same reason. */
export type Repeats = "by itself" | "only if remembered";

/** Answers that a request was not done; the outcome stays open while an earlier copy of it may be under way. */
export const answerRejected = (
  turn: Turn,
  caller: Caller,
  rejection: Rejection,
  repeats: Repeats = repeatsOf(rejection),
): void => {
  if (caller.response !== undefined) noteConflict(turn, caller.response, rejection);
  const told =
    rejection.outcomeUnknown || mayStand(turn, caller) ? leftOpen(rejection, named(turn, caller)) : rejection;
  if (caller.entryPeer !== turn.self && repeats === "only if remembered") rememberTurnedAway(turn, caller, told);
  answer(turn, caller, { _tag: "Rejected", rejection: told }, { _tag: "Rejected", rejection: told });
};

const mayChange: ReadonlySet<RejectionCode> = new Set([
  "APPROVER_REPLICATION_UNAVAILABLE",
  "PREPARATION_CAPACITY",
  "SESSION_CAPACITY",
  "TOO_MANY_ATTEMPTS",
  "REQUEST_CAPACITY",
  // The writer's keys may be renewed, and a token that is not valid yet becomes so.
  "UNAUTHENTICATED",
]);

const repeatsOf = ({ code }: Rejection): Repeats => (mayChange.has(code) ? "only if remembered" : "by itself");

/**
 * A request that was refused for the state of the cluster, or by another member, could succeed a moment
 * later, so a late copy of it must meet the same answer, not a second chance.
 */
const rememberTurnedAway = (turn: Turn, caller: Caller, rejection: Rejection): void => {
  const { entryPeer, requestId, arrival } = caller;
  const remembered = turn.editTurnedAway(entryPeer);
  if (remembered.size >= refusalsRemembered(turn.context.settings) && !remembered.has(requestId))
    for (const [oldest, turnedAway] of remembered) {
      remembered.delete(oldest);
      noteForgotten(turn, { entryPeer, arrival: turnedAway.arrival });
      break;
    }
  remembered.set(requestId, { arrival, rejection });
};

/** What the caller is told whose approver was there before, from this peer's own rows. */
export const existing = (turn: Turn, approver: Rows["approvers"]): Answer => {
  const observations = turn.context.view.get("observations", approver.ref);
  return { _tag: "Registered", created: false, approver, observations };
};

export const answerExisting = (turn: Turn, caller: Caller, approver: Rows["approvers"]): void =>
  answer(turn, caller, existing(turn, approver), { _tag: "Existing", ref: approver.ref });

/** What the caller is told whose request has led to this proposal, applied by every member. */
export const confirmation = ({ kind, effects }: Proposal, created: boolean): Answer =>
  kind === "METADATA"
    ? { _tag: "Replaced", approver: approverRow(effects) }
    : { _tag: "Registered", created, approver: approverRow(effects), observations: effects.observations };

/** Every member has applied it: the request that made it is told so, and those that joined it that it was there. */
export const answerConfirmed = (turn: Turn, round: Round, acks: ReadonlyArray<SignedStatement>): void => {
  const { certificate, creator, joiners } = round;
  if (certificate === undefined) return;
  // A mono instance signs its acknowledgement in this very turn; then the answer waits for the flush.
  const flushed = acks.every((ack) => signerOf(ack) !== turn.self || turn.isFlushed(ack));
  const confirm = (caller: Caller, created: boolean): void =>
    answer(
      turn,
      caller,
      confirmation(certificate.proposal, created),
      { _tag: "Confirmed", certificate, acks },
      flushed,
    );
  if (creator !== undefined) confirm(creator, true);
  for (const joiner of joiners) confirm(callerOfQueued(joiner), false);
};
