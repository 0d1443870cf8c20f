/** Whether a session may still be finished, by one peer's own rows, clock and records (contract 3.1). */
import type { Digest } from "../Digest.ts";
import { Limits } from "../Limits.ts";
import type { Place } from "../registry/Place.ts";
import { type Rejection, rejection } from "../Rejection.ts";
import type { Rows } from "../Tables.ts";

const NEW_INVITATION = "Ask the registrar for a new invitation.";

const unknown = rejection(
  "REGISTRATION_NOT_FOUND",
  "There is no enrollment with this invitation.",
  `Check that the invitation is complete; a registrationId is none. ${NEW_INVITATION}`,
);

const expired = rejection("REGISTRATION_EXPIRED", "The enrollment's deadline has passed.", NEW_INVITATION);

const overtaken = rejection(
  "REGISTRATION_EXPIRED",
  "The enrollment is void: a member was restored, or the configuration has changed, since it was opened.",
  NEW_INVITATION,
);

const completed = rejection(
  "REGISTRATION_COMPLETED",
  "The enrollment was completed with another response.",
  NEW_INVITATION,
);

/** Whether a session of this deadline is unknown by now, even where its row is still there (decisions.md). */
export const isForgotten = (expiresAt: number, now: number): boolean => now > expiresAt + Limits.sessionRetentionMillis;

/** Whether what the session was opened under is no longer so. */
const isVoid = (place: Place, { session }: Rows["sessions"]): boolean =>
  session.topologyDigest !== place.membership.digest ||
  session.configDigest !== place.context.settings.configDigest ||
  !place.isCurrent(session.incarnations);

/**
 * Why a response cannot finish a session, nor have finished it; undefined where it may.
 *
 * @param row the session as it is stored here, if it is
 */
export const sessionFault = (
  place: Place,
  row: Rows["sessions"] | undefined,
  responseDigest: Digest,
): Rejection | undefined => {
  const { now } = place.context;
  if (row === undefined || isForgotten(row.session.expiresAt, now)) return unknown;
  if (row.completed !== undefined && row.completed.responseDigest !== responseDigest) return completed;
  if (now > row.session.expiresAt) return expired;
  return row.completed === undefined && isVoid(place, row) ? overtaken : undefined;
};
