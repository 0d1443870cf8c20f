/** How a session ends without a key: nothing of it stays, at any member. */
import type { Digest } from "../../base/Digest.ts";
import { type MemberFault, type Rejection, rejection } from "../../base/Rejection.ts";
import { answerRejected, callerOfQueued } from "../../protocol/Answers.ts";
import { refusalRejection } from "../../protocol/Refusals.ts";
import type { Queued } from "../../protocol/Requests.ts";
import type { Step } from "../../protocol/Step.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import { DISPUTED, type Failure, say } from "./KeygenRounds.ts";
import { KEYGEN, type Making } from "./Making.ts";
import { type KeygenSession, makings } from "./MakingState.ts";
import { makeKey } from "./MakeKey.ts";
import { erasePending, isProposed, isRestedOn, PENDING_CAPACITY } from "./PendingRows.ts";
import { wipeOld } from "./SchemeRounds.ts";

const ENDED_REMEMBERED = 256;

/** A member cannot refresh what it does not have. */
export const SHARE_MISSING = "SHARE_MISSING";

/** A member that told its part of a session and does not remember it. */
export const SESSION_LOST = "SESSION_LOST";

const isMaking = (intent: Queued["intent"]): intent is Making => intent.kind === KEYGEN;

/** The requests at the writer that wait for this very session. */
export const waitingFor = (step: Step, requestDigest: Digest): ReadonlyArray<Queued> =>
  step.state.requests.queue.filter(({ intent }) => isMaking(intent) && intent.requestDigest === requestDigest);

/** The requests at the writer that wait for a key, in the order in which they came. */
export const makingsInQueue = (step: Step): ReadonlyArray<Queued & { readonly intent: Making }> =>
  step.state.requests.queue.flatMap((queued) =>
    isMaking(queued.intent) ? [{ ...queued, intent: queued.intent }] : [],
  );

const remember = (step: Step, sessionId: Digest, failure: Failure): void => {
  const ended = step.editIn(makings, "ended");
  ended.set(sessionId, { sessionId, ...failure });
  for (const oldest of ended.keys()) {
    if (ended.size <= ENDED_REMEMBERED) return;
    ended.delete(oldest);
  }
};

/** Ends a session at this peer, and erases what was made in it unless a proposal rests on that. */
export const endHere = (step: Step, sessionId: Digest, failure: Failure): void => {
  remember(step, sessionId, failure);
  const session = step.slice(makings).sessions.get(sessionId);
  if (session !== undefined) {
    wipeOld(session.old);
    step.editIn(makings, "sessions").delete(sessionId);
  }
  for (const [key, mark] of step.slice(makings).pending)
    if (mark.sessionId === sessionId && !isRestedOn(step, mark)) erasePending(step, key);
};

const DESTROYED = { code: "KEY_DESTROYED", members: [] };

/** A key is destroyed: nothing more is made of it, and what was made goes in the same transaction as its shares. */
export const endMakings = (step: Step, keyId: string): void => {
  const { sessions, pending } = step.slice(makings);
  for (const { sessionId, making } of sessions.values())
    if (making.keyId === keyId) endHere(step, sessionId, DESTROYED);
  for (const [key, mark] of pending) if (mark.keyId === keyId) erasePending(step, key);
};

/** A refresh takes the shares of all. */
export const shareMissing = (peerId: PeerId, ref: string): Rejection =>
  rejection(
    SHARE_MISSING,
    `Peer ${peerId} has no share of the key that could be refreshed.`,
    "Repair the share at that peer, or where it had the whole key, restore its backup; or rotate the key.",
    { ref, members: [{ peerId, reason: "its share of the key is missing" }] },
  );

/** What the codes of a session's end mean. */
const MEANINGS = {
  [SESSION_LOST]: "it has lost its part of making the key",
  DONE: "by its records the key was made before",
  REPLACED: "it was asked to make the key anew",
  NOT_PROPOSED: "the key was not wanted any more",
  [PENDING_CAPACITY]: "it keeps as many shares that wait for their keys as it may",
};

const told = (step: Step, from: PeerId, { code, members }: Failure, ref: string): Rejection => {
  if (code === SHARE_MISSING) return shareMissing(from, ref);
  if (code !== DISPUTED) return refusalRejection(from, code, ref, makeKey.speaking, MEANINGS);
  // Whoever accuses another may be the one at fault.
  const named = step.membership.peerIds.filter((peerId) => peerId === from || members.includes(peerId));
  return rejection(
    DISPUTED,
    `What peers ${named.join(", ")} said while the key was made does not fit together.`,
    "Repeat the request; if it happens again, one of the named peers does not do what it should.",
    { ref, members: named.map((peerId) => ({ peerId, reason: "what it said does not fit what others said" })) },
  );
};

/** Answers requests in the queue that they are not done, and takes them out of it. */
export const turnAway = (step: Step, waiting: ReadonlyArray<Pick<Queued, "forward">>, refusal: Rejection): void => {
  const going = step.state.requests.queue.filter(({ forward }) => waiting.some((each) => each.forward === forward));
  step.draft("requests").queue = step.state.requests.queue.filter((queued) => !going.includes(queued));
  for (const queued of going) answerRejected(step, callerOfQueued(queued), refusal, "only if remembered");
};

/** At the writer: ends it at all members. */
export const endEverywhere = (step: Step, sessionId: Digest, failure: Failure): void => {
  endHere(step, sessionId, failure);
  say(step, { _tag: "Keygen.Ended", sessionId, ...failure });
};

/** What does not hold in a session; `from` found it. */
export const failSession = (step: Step, session: KeygenSession, from: PeerId, failure: Failure): void => {
  const { sessionId, making } = session;
  if (!step.isWriter) {
    endHere(step, sessionId, failure);
    return say(step, { _tag: "Keygen.Ended", sessionId, ...failure }, [step.membership.writer]);
  }
  endEverywhere(step, sessionId, failure);
  turnAway(step, waitingFor(step, making.requestDigest), told(step, from, failure, making.ref));
};

/**
 * The members that have not done their part of a session, as far as this peer can see. Whoever tells its package has
 * begun; that it goes no further may be the doing of another, which tells it alone nothing.
 */
export const silentIn = (
  step: Step,
  { packages, told: own, shares, stored }: KeygenSession,
): ReadonlyArray<MemberFault> => {
  const lacks = (from: ReadonlyMap<PeerId, unknown>, reason: string): ReadonlyArray<MemberFault> =>
    step.others.flatMap((peerId) => (from.has(peerId) ? [] : [{ peerId, reason }]));
  if (own === undefined) return lacks(packages, "it does not go on with making the key");
  const waits = "it has not finished making the key: it, or a member that it waits for, does not go on";
  const untold = lacks(shares, waits);
  return untold.length > 0 ? untold : lacks(stored, waits);
};

/**
 * A member's session has done its part once a proposal rests on what it made, or that is gone. It is remembered: begun
 * anew by a late `Keygen.Open` it would tell another package, and look like a liar.
 */
export const closeSessions = (step: Step): void => {
  const { sessions, pending } = step.slice(makings);
  if (sessions.size === 0 || step.isWriter) return;
  const needed = new Set<Digest>();
  for (const mark of pending.values()) if (!isProposed(step, mark)) needed.add(mark.sessionId);
  for (const { sessionId, made } of sessions.values()) {
    if (made === undefined || needed.has(sessionId)) continue;
    remember(step, sessionId, { code: SESSION_LOST, members: [] });
    step.editIn(makings, "sessions").delete(sessionId);
  }
};

/**
 * What this peer drew does not outlive the keys that it is here for, nor its trust in its rows; it begins none of these
 * sessions anew.
 */
export const forgetSessions = (step: Step): void => {
  for (const { sessionId, old } of step.slice(makings).sessions.values()) {
    wipeOld(old);
    remember(step, sessionId, { code: SESSION_LOST, members: [] });
    step.editIn(makings, "sessions").delete(sessionId);
  }
};
