/** If-Match of a metadata replacement: exactly one strong validator, its base revision (contract 4.1.2, 7). */
import { Either } from "effect";
import { type Rejection, rejection } from "../../base/Rejection.ts";

const ONE_REVISION = /^"([1-9][0-9]{0,15})"$/;

const HINT = "Read the approver and send the ETag it came with, quotes included, as If-Match.";

const STALE_HINT =
  "Read the approver: if it has your metadata, an earlier request was done; else send the ETag it came with as If-Match.";

const missing = rejection("PRECONDITION_REQUIRED", "If-Match is missing.", HINT);

const unfit = rejection("PRECONDITION_FAILED", "If-Match is not one quoted revision.", HINT);

/** The answer to a change that builds on a revision other than the current one. */
export const staleRevision = (ref: string): Rejection =>
  rejection("PRECONDITION_FAILED", "The approver's revision is another one.", STALE_HINT, { ref });

/**
 * Reads If-Match.
 *
 * @param header the field's value without surrounding space; undefined where there is none
 * @returns the revision; `PRECONDITION_REQUIRED` without the header; `PRECONDITION_FAILED` for a weak validator, a
 *   wildcard, a list and anything else that is no revision
 */
export const parseIfMatch = (header: string | undefined): Either.Either<number, Rejection> => {
  if (header === undefined) return Either.left(missing);
  const revision = Number(ONE_REVISION.exec(header)?.[1]);
  return Number.isSafeInteger(revision) ? Either.right(revision) : Either.left(unfit);
};
