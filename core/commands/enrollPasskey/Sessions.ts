/**
 * The sessions a peer keeps: written when it acknowledges one, removed only by a
 * later transaction that writes another, so that no read ever writes.
 */
import type { Digest } from "../../base/Digest.ts";
import type { Actor } from "../../protocol/Proposal.ts";
import { signEach } from "../../protocol/SignEach.ts";
import type { SignedStatement } from "../../protocol/Statement.ts";
import type { Step } from "../../protocol/Step.ts";
import { sessionLock } from "../approvers/Locks.ts";
import { SESSION_ACK, type Session } from "./Session.ts";
import { enrollments } from "./EnrollmentState.ts";
import { type SessionMark, markOf } from "./SessionMark.ts";
import { isForgotten, isVoid } from "./SessionStanding.ts";
import { enrollmentTables } from "./SessionTables.ts";

/** Stores a session with this peer's acknowledgement of it, and forgets expired ones. */
export const keepSession = (step: Step, session: Session, ack: SignedStatement): void => {
  forgetOld(step, Math.min(step.now, session.expiresAt));
  const row = { session, ack, completed: undefined };
  step.editIn(enrollments, "sessions").set(session.registrationId, markOf(row));
  step.rows(enrollmentTables).write({ op: "insert", table: "sessions", key: session.registrationId, row });
};

/** A session that this peer will acknowledge, and the subject of the statement. */
export interface Accepted {
  readonly session: Session;
  readonly digest: Digest;
}

/** Acknowledges sessions and stores them, and hands the acknowledgements on. */
export const keepSessions = (
  step: Step,
  accepted: ReadonlyArray<Accepted>,
  run: (acks: ReadonlyArray<SignedStatement>) => void,
): void =>
  signEach(
    step,
    accepted,
    ({ digest }) => ({ kind: SESSION_ACK, proposalId: digest, seq: 0, detail: "" }),
    ({ session }, ack) => keepSession(step, session, ack),
    run,
  );

/**
 * Whether a session takes up room: it is neither past its deadline nor void, finished or not; or a response to it is
 * unsettled, and until then it stays and counts (contract 8).
 */
export const takesRoom = (step: Step, registrationId: Digest, mark: SessionMark): boolean =>
  (step.now <= mark.expiresAt && !isVoid(step, mark)) ||
  (!mark.isCompleted && step.isLocked(sessionLock(registrationId)));

/**
 * Sessions an hour past their deadline go; where there are too many rows, the oldest that take up no room go too.
 *
 * @param now no later than the deadline of the session that makes room, to which all members have agreed: so one wrong
 *   reading of a clock removes no session
 */
const forgetOld = (step: Step, now: number): void => {
  const { sessions } = step.slice(enrollments);
  const over: Array<readonly [Digest, SessionMark]> = [];
  for (const [registrationId, mark] of sessions)
    if (!takesRoom(step, registrationId, mark) && !step.isLocked(sessionLock(registrationId)))
      over.push([registrationId, mark]);
  const inExcess = sessions.size - (step.capacities.sessionRows - 1);
  over.sort(([, left], [, right]) => left.expiresAt - right.expiresAt);
  over.forEach(([registrationId, { expiresAt }], index) => {
    if (index >= inExcess && !isForgotten(expiresAt, now)) return;
    step.editIn(enrollments, "sessions").delete(registrationId);
    step.rows(enrollmentTables).write({ op: "remove", table: "sessions", key: registrationId });
  });
};

/** How many sessions take up room, and how many of them are unfinished and of one registrar. */
export interface Load {
  readonly unexpired: number;
  readonly unfinished: number;
}

/** The load of the stored sessions now; one past its deadline, or void, counts while a response to it is unsettled. */
export const storedLoad = (step: Step, { iss, sub }: Pick<Actor, "iss" | "sub">): Load => {
  let unexpired = 0;
  let unfinished = 0;
  for (const [registrationId, mark] of step.slice(enrollments).sessions) {
    if (!takesRoom(step, registrationId, mark)) continue;
    unexpired += 1;
    const { registrar, isCompleted } = mark;
    if (!isCompleted && registrar.sub === sub && registrar.iss === iss) unfinished += 1;
  }
  return { unexpired, unfinished };
};

/** Leftovers of a failed attempt at members count as long as they take up room there (see `loadOf` of the writer). */
export const noteGivenUp = (step: Step, session: Session): void => {
  const givenUp = step.editIn(enrollments, "givenUp");
  for (const [each, mark] of givenUp) if (!takesRoom(step, each, mark)) givenUp.delete(each);
  givenUp.set(session.registrationId, markOf({ session, completed: undefined }));
};
