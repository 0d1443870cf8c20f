/** What a session's progress leads to: at a member a stored share, at the writer one that all members have. */
import { withEntry } from "../../base/Copies.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import type { Step } from "../../protocol/Step.ts";
import { unavailable } from "../../protocol/Unavailable.ts";
import { endEverywhere, endHere, failSession, silentIn, turnAway, waitingFor } from "./KeygenEnd.ts";
import type { KeygenMessageOf } from "./KeygenMessages.ts";
import {
  AGAIN_MILLIS,
  AGAIN_TIMER,
  DISPUTED,
  isFailure,
  keep,
  notePackage,
  proceed,
  say,
  sayOpen,
  sayPackage,
  sayShare,
} from "./KeygenRounds.ts";
import { type KeygenSession, makings } from "./MakingState.ts";
import { storePending, storingFault } from "./PendingRows.ts";

/** Fires when what all members have made is on this disk: the request can be proposed. */
export const PROCEED_TIMER = "Keygen.proceed";
/** Of sessions that are not known here yet, the packages of so many are kept of each member. */
const EARLY_PACKAGES = 4;

/** Takes a session as far as it goes now. */
export const advanceSession = (step: Step, session: KeygenSession): void => {
  const next = proceed(step, session);
  if (isFailure(next)) return failSession(step, session, step.self, next);
  if (next.made === undefined) return;
  if (step.isWriter) return conclude(step, next);
  if (session.made === undefined) {
    const fault = storingFault(step, next.made);
    if (fault !== undefined) return failToStore(step, next, fault);
    storePending(step, next.made);
  }
  const { sessionId, transcript } = next.made;
  say(step, { _tag: "Keygen.Stored", sessionId, transcript }, [step.membership.writer]);
};

/** Looked at when there is something to keep: since the session began it may have filled up, or a proposal have come. */
const failToStore = (step: Step, session: KeygenSession, code: string): void =>
  failSession(step, session, step.self, { code, members: [] });

/**
 * The writer's own row is the last: where it is, all members have theirs, with one transcript. The request is proposed
 * as soon as that is on the disk.
 */
const conclude = (step: Step, session: KeygenSession): void => {
  const { sessionId, made, stored } = session;
  if (made === undefined) return;
  const differs = step.others.find((peerId) => (stored.get(peerId) ?? made.transcript) !== made.transcript);
  if (differs !== undefined) return failSession(step, session, differs, { code: DISPUTED, members: [step.self] });
  if (stored.size < step.others.length) return;
  const fault = storingFault(step, made);
  if (fault !== undefined) return failToStore(step, session, fault);
  storePending(step, made);
  step.editIn(makings, "sessions").delete(sessionId);
  step.arm(PROCEED_TIMER, 0);
};

/** Packages that came before their session, and those that come now. */
export const takeEarly = (step: Step, session: KeygenSession): KeygenSession | undefined => {
  let next = session;
  for (const [from, packages] of step.slice(makings).early) {
    const early = packages.find((each) => each.sessionId === session.sessionId);
    if (early === undefined) continue;
    const noted = notePackage(step, next, from, early.said);
    if (isFailure(noted)) return void failSession(step, next, step.self, noted);
    next = noted;
  }
  return next;
};

const noteEarly = (step: Step, from: PeerId, message: KeygenMessageOf<"Keygen.Package">): void => {
  if (step.slice(makings).ended.has(message.sessionId)) return;
  const known = (step.slice(makings).early.get(from) ?? []).filter((each) => each.sessionId !== message.sessionId);
  step.editIn(makings, "early").set(from, [...known, message].slice(-EARLY_PACKAGES));
};

export const onPackage = (step: Step, from: PeerId, message: KeygenMessageOf<"Keygen.Package">): void => {
  const session = step.slice(makings).sessions.get(message.sessionId);
  if (session === undefined) return noteEarly(step, from, message);
  const noted = notePackage(step, session, from, message.said);
  if (isFailure(noted)) return failSession(step, session, step.self, noted);
  if (message.again) {
    sayPackage(step, noted, [from]);
    sayShare(step, noted, from);
  }
  if (noted.made === undefined) advanceSession(step, noted);
};

export const onShare = (
  step: Step,
  from: PeerId,
  { sessionId, heard, box, again }: KeygenMessageOf<"Keygen.Share">,
): void => {
  const session = step.slice(makings).sessions.get(sessionId);
  if (session === undefined) return;
  if (again) {
    sayPackage(step, session, [from]);
    sayShare(step, session, from);
  }
  if (session.shares.has(from)) return;
  advanceSession(step, keep(step, { ...session, shares: withEntry(session.shares, from, { heard, box }) }));
};

/** At the writer: a member has stored its share. */
export const onStored = (
  step: Step,
  from: PeerId,
  { sessionId, transcript }: KeygenMessageOf<"Keygen.Stored">,
): void => {
  const session = step.slice(makings).sessions.get(sessionId);
  if (session === undefined || !step.isWriter || session.stored.has(from)) return;
  conclude(step, keep(step, { ...session, stored: withEntry(session.stored, from, transcript) }));
};

/** The writer has ended a session, or at the writer a member cannot go on with it. */
export const onEnded = (
  step: Step,
  from: PeerId,
  { sessionId, code, members }: KeygenMessageOf<"Keygen.Ended">,
): void => {
  const session = step.slice(makings).sessions.get(sessionId);
  if (step.isWriter && session !== undefined) return failSession(step, session, from, { code, members });
  if (from === step.membership.writer) endHere(step, sessionId, { code, members });
};

/** Says again what may be lost, and ends what takes too long. */
export const onAgainTimer = (step: Step): void => {
  for (const session of step.slice(makings).sessions.values()) {
    if (step.elapsed >= session.deadline) giveUp(step, session);
    else sayAgain(step, session);
  }
  let next = Number.POSITIVE_INFINITY;
  for (const { deadline } of step.slice(makings).sessions.values()) next = Math.min(next, deadline - step.elapsed);
  if (step.slice(makings).sessions.size > 0) step.arm(AGAIN_TIMER, Math.max(1, Math.min(AGAIN_MILLIS, next)));
};

const giveUp = (step: Step, session: KeygenSession): void => {
  const { sessionId, making } = session;
  const failure = { code: "EXPIRED", members: [] };
  if (!step.isWriter) return endHere(step, sessionId, failure);
  endEverywhere(step, sessionId, failure);
  turnAway(step, waitingFor(step, making.requestDigest), unavailable(silentIn(step, session), making.ref));
};

const sayAgain = (step: Step, session: KeygenSession): void => {
  const { asked, made, packages, told, shares, stored } = session;
  const without = (from: ReadonlyMap<PeerId, unknown>): ReadonlyArray<PeerId> =>
    step.others.filter((peerId) => !from.has(peerId));
  if (asked !== undefined) sayOpen(step, session, asked, without(stored));
  if (made !== undefined) return;
  if (told === undefined) sayPackage(step, session, without(packages), true);
  else for (const peerId of without(shares)) sayShare(step, session, peerId, true);
};
