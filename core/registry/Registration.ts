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
import type { Rows } from "../Tables.ts";

const KEY_TAG = "CUSTODY_KEY_V1";
const keyCodec = pair(text(64), bytes(Limits.publicKeyBytes));

/** The path and method of the one command there is so far. */
export const REGISTER_PATH = "/v1/custody/approvers";

export interface Registration {
  readonly id: string;
  readonly ref: string;
  readonly descriptor: string;
  readonly keyIdentity: Digest;
  readonly metadata: Metadata;
}

/** Canonical algorithm plus normalized key: the same bytes on two curves are two keys (contract 2.2.6). */
export const keyIdentityOf = (crypto: Crypto, algorithm: string, keyBytes: Uint8Array): Digest =>
  crypto.digest(KEY_TAG, keyCodec, [algorithm, keyBytes]);

type Means = Pick<StepContext, "crypto" | "providers">;

/** Calls understood before, by these means: a request is judged where it enters and again by each vote on it. */
const understood = new WeakMap<Call, Means & { readonly meaning: Either.Either<Registration, Rejection> }>();

/** Reads and validates a registration; the left side names every field at fault. */
export const registrationOf = ({ crypto, providers }: Means, call: Call): Either.Either<Registration, Rejection> => {
  const known = understood.get(call);
  if (known !== undefined && known.crypto === crypto && known.providers === providers) return known.meaning;
  const meaning = understand({ crypto, providers }, call);
  understood.set(call, { crypto, providers, meaning });
  return meaning;
};

const understand = ({ crypto, providers }: Means, call: Call): Either.Either<Registration, Rejection> => {
  if (call.method !== "POST" || call.path !== REGISTER_PATH)
    return Either.left(
      rejection(
        "INVALID_REQUEST_BODY",
        "The forwarded request is not a registration.",
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
    id,
    ref: approverRef(id, refDigest(crypto.sha256, descriptor)),
    descriptor,
    keyIdentity: keyIdentityOf(crypto, credential.algorithm, keyBytes),
    metadata,
  });
};

/** Effects computed before: every member computes those of a proposal, and whoever shares the request shares them. */
const proposed = new WeakMap<Registration, Effects>();

/** What the registration does to the registry, at the time the writer proposes it. */
export const registrationEffects = (registration: Registration, proposedAt: number): Effects => {
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
  };
  proposed.set(registration, effects);
  return effects;
};

const approvers = new WeakMap<Effects, Rows["approvers"]>();

/** The stored approver that effects lead to; equal bytes on every peer. */
export const approverRow = (effects: Effects): Rows["approvers"] => {
  const known = approvers.get(effects);
  if (known !== undefined) return known;
  const row = {
    id: effects.id,
    ref: effects.ref,
    descriptor: effects.descriptor,
    keyIdentity: effects.keyIdentity,
    metadata: effects.metadata,
    revision: effects.newRevision,
    createdAt: effects.createdAt,
    updatedAt: effects.updatedAt,
  };
  approvers.set(effects, row);
  return row;
};
