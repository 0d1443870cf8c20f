/**
 * What a registration request means: its approver, computed from the request
 * alone, so that every member can compute it again and compare bytes.
 */
import { Either } from "effect";
import { bytes, pair, text } from "../codec/Codec.ts";
import type { Metadata } from "../credential/Metadata.ts";
import { parseRegisterRequest } from "../credential/RegisterRequest.ts";
import { descriptorJson, normalizeCredential, refDigest } from "../credential/SignatureCredential.ts";
import { approverRef } from "../credential/ApproverRef.ts";
import type { Crypto } from "../Crypto.ts";
import type { Digest } from "../Digest.ts";
import type { StepContext } from "../Event.ts";
import { Limits } from "../Limits.ts";
import type { Call } from "../protocol/Forward.ts";
import type { Effects } from "../protocol/Proposal.ts";
import { type Rejection, rejection } from "../Rejection.ts";
import type { RowView } from "../Tables.ts";
import type { Standing } from "./Standing.ts";

const KEY_TAG = "CUSTODY_KEY_V1";
const keyCodec = pair(text(64), bytes(Limits.publicKeyBytes));

/** Where approvers are registered; a version's own path lies below it. */
export const REGISTER_PATH = "/v1/custody/approvers";

export interface Registration {
  readonly kind: "REGISTER";
  /** It builds on nothing. */
  readonly baseRevision: undefined;
  readonly id: string;
  readonly ref: string;
  readonly descriptor: string;
  readonly keyIdentity: Digest;
  readonly metadata: Metadata;
}

/** Canonical algorithm plus normalized key: the same bytes on two curves are two keys (contract 2.2.6). */
export const keyIdentityOf = (crypto: Crypto, algorithm: string, keyBytes: Uint8Array): Digest =>
  crypto.digest(KEY_TAG, keyCodec, [algorithm, keyBytes]);

/** What a registration is understood by. */
export type Means = Pick<StepContext, "crypto" | "providers">;

/** Reads and validates a registration; the left side names every field at fault. */
export const registrationOf = ({ crypto, providers }: Means, call: Call): Either.Either<Registration, Rejection> => {
  if (call.method !== "POST" || call.path !== REGISTER_PATH)
    return Either.left(
      rejection(
        "INVALID_REQUEST_BODY",
        "The forwarded request is neither a registration nor a metadata replacement.",
        "Bring all peers to one version.",
      ),
    );
  const request = parseRegisterRequest(call.rawBody);
  if (Either.isLeft(request)) return Either.left(request.left);
  const { id, algorithm, publicKey64, metadata } = request.right;
  const normalized = normalizeCredential(providers, algorithm, publicKey64);
  if (Either.isLeft(normalized)) return Either.left(normalized.left);
  const { credential, keyBytes } = normalized.right;
  const descriptor = descriptorJson(credential);
  return Either.right({
    kind: "REGISTER",
    baseRevision: undefined,
    id,
    ref: approverRef(id, refDigest(crypto.sha256OfText, descriptor)),
    descriptor,
    keyIdentity: keyIdentityOf(crypto, credential.algorithm, keyBytes),
    metadata,
  });
};

/** Effects computed before: every member computes those of a proposal, and whoever shares the request shares them. */
const proposed = new WeakMap<Registration, Effects>();

/** What the registration does to the registry, at the time the writer proposes it. */
const effectsOf = (registration: Registration, proposedAt: number): Effects => {
  const known = proposed.get(registration);
  if (known !== undefined && known.createdAt === proposedAt) return known;
  const effects: Effects = {
    id: registration.id,
    ref: registration.ref,
    descriptor: registration.descriptor,
    keyIdentity: registration.keyIdentity,
    metadata: registration.metadata,
    baseRevision: undefined,
    newRevision: 1,
    createdAt: proposedAt,
    updatedAt: proposedAt,
    registrationId: undefined,
    responseDigest: undefined,
    observations: undefined,
    credentialIdentity: undefined,
  };
  proposed.set(registration, effects);
  return effects;
};

/** The answer to a claim of a key that another id owns, in whatever format. */
export const keyConflict = (ref: string): Rejection =>
  rejection(
    "KEY_ALREADY_REGISTERED",
    "The same key is registered under another id.",
    "Use the existing approver, or register another key.",
    { ref },
  );

/** How it stands: an identical version is there already, another id owns the key, or it can be done. */
export const registrationStanding = (view: RowView, registration: Registration): Standing => {
  const approver = view.get("approvers", registration.ref);
  if (approver !== undefined) return { _tag: "Done", approver };
  const owner = view.get("keys", registration.keyIdentity);
  if (owner !== undefined && owner.id !== registration.id)
    return { _tag: "Impossible", rejection: keyConflict(registration.ref), isFinal: true };
  return { _tag: "Possible", effectsAt: (proposedAt) => effectsOf(registration, proposedAt) };
};
