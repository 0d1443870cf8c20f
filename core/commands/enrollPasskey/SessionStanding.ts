/** Whether a session may still be finished, by one peer's own rows, clock and records (contract 3.1). */
import { clockInDoubt } from "../../auth/Authorization.ts";
import type { Digest } from "../../base/Digest.ts";
import { Limits } from "../../base/Limits.ts";
import type { EvaluationContext } from "../../protocol/EvaluationContext.ts";
import { type Rejection, rejection } from "../../base/Rejection.ts";
import { enrollmentRows, type SessionRow } from "./SessionTables.ts";
import { sessionLock } from "../approvers/Locks.ts";
import type { Session } from "./Session.ts";
import { type Completion, completionOf, type Response } from "./Completion.ts";

const NEW_INVITATION = "Ask the registrar for a new invitation.";

const unknown = rejection(
  "REGISTRATION_NOT_FOUND",
  "There is no enrollment with this invitation.",
  `Check that the invitation is complete; a registrationId is none. ${NEW_INVITATION}`,
);

const expired = rejection("REGISTRATION_EXPIRED", "The enrollment's deadline has passed.", NEW_INVITATION);

const overtaken = rejection(
  "REGISTRATION_EXPIRED",
  "The enrollment is void: a member was restored, the instance promoted, the configuration changed, or a clock put right since.",
  NEW_INVITATION,
);

const completed = rejection(
  "REGISTRATION_COMPLETED",
  "The enrollment was completed with another response.",
  NEW_INVITATION,
);

/** Whether a session with this deadline is unknown by now, even where its row still exists (contract 3.1). */
export const isForgotten = (expiresAt: number, now: number): boolean => now > expiresAt + Limits.sessionRetentionMillis;

type Pins = Pick<Session, "createdAt" | "topologyDigest" | "configDigest" | "incarnations">;

/**
 * Whether the conditions under which the session was opened no longer hold. One opened later than now was opened by a
 * clock that was ahead, and would outlive the longest time that a session may be open.
 */
export const isVoid = (
  evaluation: EvaluationContext,
  { createdAt, topologyDigest, configDigest, incarnations }: Pins,
  now = evaluation.context.now,
): boolean =>
  createdAt > now + Limits.clockSkewMillis ||
  topologyDigest !== evaluation.membership.digest ||
  configDigest !== evaluation.context.settings.configDigest ||
  !evaluation.isCurrent(incarnations);

/** The standing of a response to the session it names. */
export type SessionStanding =
  /** It may finish it. */
  | { readonly _tag: "Open"; readonly row: SessionRow }
  /** It is the very response that completed it. */
  | { readonly _tag: "Completed"; readonly completion: Completion; readonly deadline: number }
  | { readonly _tag: "Refused"; readonly rejection: Rejection };

const refused = (rejection: Rejection): SessionStanding => ({ _tag: "Refused", rejection });

/** Unknown by then, unless a finish is still to be settled (contract 3.1). */
const isGone = (evaluation: EvaluationContext, now: number, registrationId: Digest, deadline: number): boolean =>
  isForgotten(deadline, now) && !evaluation.isLocked(sessionLock(registrationId));

/**
 * By this peer's own rows, whether or not it kept the session itself. A refusal only since the clock was set names that
 * clock, for nobody can tell which of the two is right.
 */
export const sessionStanding = (evaluation: EvaluationContext, response: Response): SessionStanding => {
  const { now, asBefore } = evaluation.context;
  const standing = standingAt(evaluation, now, response);
  if (standing._tag !== "Refused") return standing;
  return asBefore.some((at) => standingAt(evaluation, at, response)._tag !== "Refused")
    ? refused(clockInDoubt)
    : standing;
};

const standingAt = (
  evaluation: EvaluationContext,
  now: number,
  { registrationId, responseDigest }: Response,
): SessionStanding => {
  const { view } = evaluation.context;
  const row = enrollmentRows(view).get("sessions", registrationId);
  const completion = completionOf(view, registrationId);
  if (completion !== undefined) {
    // A member restored since then knows no deadline, only that there was none later than this.
    const deadline = row?.session.expiresAt ?? completion.approver.createdAt + Limits.registrationTtlMillis;
    if (isGone(evaluation, now, registrationId, deadline)) return refused(unknown);
    if (completion.responseDigest !== responseDigest) return refused(completed);
    return now > deadline ? refused(expired) : { _tag: "Completed", completion, deadline };
  }
  if (row === undefined || isGone(evaluation, now, registrationId, row.session.expiresAt)) return refused(unknown);
  if (now > row.session.expiresAt) return refused(expired);
  return isVoid(evaluation, row.session, now) ? refused(overtaken) : { _tag: "Open", row };
};
