/**
 * The meaning of a metadata replacement, and its effect on the approver it builds on: everything but metadata, revision
 * and updatedAt stays (contract 4.1.2).
 */
import { Either } from "effect";
import { memoized } from "../../base/Memo.ts";
import { parseApproverRef } from "../../credential/ApproverRef.ts";
import type { Metadata } from "../../credential/Metadata.ts";
import { parseMetadataRequest } from "../../credential/MetadataRequest.ts";
import type { Call } from "../../protocol/Forward.ts";
import type { Intent } from "../../protocol/Command.ts";
import type { Rejection } from "../../base/Rejection.ts";
import { metadataLock } from "../approvers/Locks.ts";
import { parseIfMatch } from "./Precondition.ts";
import { REGISTER_PATH } from "../registerKey/Registration.ts";

const PREFIX = `${REGISTER_PATH}/`;
const SUFFIX = "/metadata";

export interface Replacement extends Intent {
  readonly kind: "METADATA";
  /** The revision named by If-Match. */
  readonly baseRevision: number;
  /** All pairs from now on. */
  readonly metadata: Metadata;
}

/** The path of a replacement as a caller may send it; `ref` is encoded once. */
export const metadataPath = (ref: string): string => `${PREFIX}${encodeURIComponent(ref)}${SUFFIX}`;

/** The ref's segment of a replacement's path, still encoded; undefined for any other request. */
const segmentOf = ({ method, path }: Call): string | undefined => {
  if (method !== "PUT" || !path.startsWith(PREFIX) || !path.endsWith(SUFFIX)) return undefined;
  const segment = path.slice(PREFIX.length, -SUFFIX.length);
  return segment === "" || segment.includes("/") ? undefined : segment;
};

export const isReplacement = (call: Call): boolean => segmentOf(call) !== undefined;

/** Decodes exactly once; text that cannot be decoded is no ref either. */
const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return "";
  }
};

/**
 * Reads and validates a replacement from the call alone.
 *
 * @returns the replacement; in this order `INVALID_REF`, a fault of the body, and 428 or 412 for an If-Match that is
 *   missing or names no revision. All of it comes before the approver is looked for: without If-Match no request is
 *   carried out, so no condition can be left aside for a 404 (RFC 9110 13.2.1, RFC 6585 3)
 */
export const replacementOf = memoized((call: Call): Either.Either<Replacement, Rejection> => {
  const ref = decoded(segmentOf(call) ?? "");
  const parts = parseApproverRef(ref);
  if (Either.isLeft(parts)) return Either.left(parts.left);
  const metadata = parseMetadataRequest(call.rawBody);
  if (Either.isLeft(metadata)) return Either.left(metadata.left);
  const baseRevision = parseIfMatch(call.ifMatch);
  if (Either.isLeft(baseRevision)) return Either.left(baseRevision.left);
  return Either.right({
    kind: "METADATA",
    ref,
    locks: [metadataLock(ref)],
    deadline: Number.POSITIVE_INFINITY,
    baseRevision: baseRevision.right,
    metadata: metadata.right,
  });
});
