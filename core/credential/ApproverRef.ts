/** The complete name of one immutable approver version: `<id>@sha256:<64 lower-case hexadecimal characters>`. */
import { Either } from "effect";
import { type Rejection, rejection } from "../base/Rejection.ts";
import { isApproverId } from "./ApproverId.ts";

const SEPARATOR = "@sha256:";
const DIGEST_CHARACTERS = 64;

/** The parts of a ref. */
export interface RefParts {
  readonly id: string;
  /** SHA-256 as 64 lower-case hexadecimal characters, see `refDigest`. */
  readonly digestHex: string;
}

/** Contract 2.2, step 4. */
export const approverRef = (id: string, digestHex: string): string => `${id}${SEPARATOR}${digestHex}`;

/**
 * Reads a complete ref, already URL-decoded.
 *
 * @returns its parts, or `INVALID_REF` for a bare id, a shortened or upper-case hash
 *   (contract 4) and everything else
 */
export const parseApproverRef = (text: string): Either.Either<RefParts, Rejection> => {
  const at = text.length - DIGEST_CHARACTERS - SEPARATOR.length;
  const id = text.slice(0, Math.max(at, 0));
  const digestHex = text.slice(-DIGEST_CHARACTERS);
  const complete = isApproverId(id) && text.startsWith(SEPARATOR, at) && /^[0-9a-f]{64}$/.test(digestHex);
  return complete ? Either.right({ id, digestHex }) : Either.left(notARef);
};

const notARef = rejection(
  "INVALID_REF",
  "This is not a complete approver ref.",
  "Use the ref as registration returned it: the id, @sha256: and 64 lower-case hexadecimal characters, URL-encoded in a path.",
);
