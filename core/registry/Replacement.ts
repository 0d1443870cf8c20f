/**
 * What a metadata replacement means, and what it does to the approver it builds
 * on: everything but metadata, revision and updatedAt stays (contract 4.1.2).
 */
import { Either } from "effect";
import { parseApproverRef } from "../credential/ApproverRef.ts";
import type { Metadata } from "../credential/Metadata.ts";
import { parseMetadataRequest } from "../credential/MetadataRequest.ts";
import type { Call } from "../protocol/Forward.ts";
import type { Effects } from "../protocol/Proposal.ts";
import { type Rejection, rejection } from "../Rejection.ts";
import type { Rows, RowView } from "../Tables.ts";
import { parseIfMatch, staleRevision } from "./Precondition.ts";
import { REGISTER_PATH } from "./Registration.ts";
import type { Standing } from "./Standing.ts";

const PREFIX = `${REGISTER_PATH}/`;
const SUFFIX = "/metadata";

export interface Replacement {
  readonly kind: "METADATA";
  readonly ref: string;
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

/** Decodes exactly once; what cannot be decoded is no ref either. */
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
 * @returns the replacement; in this order `INVALID_REF`, a fault of the body, and 428 or 412 for an If-Match that
 *   is missing or can name no revision
 */
export const replacementOf = (call: Call): Either.Either<Replacement, Rejection> => {
  const ref = decoded(segmentOf(call) ?? "");
  const parts = parseApproverRef(ref);
  if (Either.isLeft(parts)) return Either.left(parts.left);
  const metadata = parseMetadataRequest(call.rawBody);
  if (Either.isLeft(metadata)) return Either.left(metadata.left);
  const baseRevision = parseIfMatch(call.ifMatch);
  if (Either.isLeft(baseRevision)) return Either.left(baseRevision.left);
  return Either.right({ kind: "METADATA", ref, baseRevision: baseRevision.right, metadata: metadata.right });
};

interface Made {
  readonly from: Rows["approvers"];
  readonly effects: Effects;
}

/** Effects computed before: every member computes those of a proposal, and whoever shares request and row shares them. */
const made = new WeakMap<Replacement, Made>();

/** What the replacement makes of an approver. Its time never falls behind that of the revision before. */
const effectsOn = (replacement: Replacement, from: Rows["approvers"], proposedAt: number): Effects => {
  const updatedAt = Math.max(proposedAt, from.updatedAt);
  const known = made.get(replacement);
  if (known !== undefined && known.from === from && known.effects.updatedAt === updatedAt) return known.effects;
  const effects: Effects = {
    id: from.id,
    ref: from.ref,
    descriptor: from.descriptor,
    keyIdentity: from.keyIdentity,
    metadata: replacement.metadata,
    baseRevision: replacement.baseRevision,
    newRevision: replacement.baseRevision + 1,
    createdAt: from.createdAt,
    updatedAt,
    registrationId: undefined,
    responseDigest: undefined,
    observations: undefined,
    credentialIdentity: undefined,
  };
  made.set(replacement, { from, effects });
  return effects;
};

const notFound = (ref: string): Rejection =>
  rejection(
    "APPROVER_NOT_FOUND",
    "No approver of this ref is registered.",
    "Check the ref; every version has a ref of its own.",
    { ref },
  );

/** How it stands: it can be done exactly while the revision it names is the current one. */
export const replacementStanding = (view: RowView, replacement: Replacement): Standing => {
  const { ref, baseRevision } = replacement;
  const from = view.get("approvers", ref);
  if (from === undefined) return { _tag: "Impossible", rejection: notFound(ref), isFinal: false };
  if (from.revision !== baseRevision)
    // Revisions never go back, so one that was passed never comes again.
    return { _tag: "Impossible", rejection: staleRevision(ref), isFinal: baseRevision < from.revision };
  return { _tag: "Possible", effectsAt: (proposedAt) => effectsOn(replacement, from, proposedAt) };
};
