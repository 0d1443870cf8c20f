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

/** Reads and validates a registration; the left side names every field at fault. */
export const registrationOf = (
  { crypto, providers }: Pick<StepContext, "crypto" | "providers">,
  call: Call,
): Either.Either<Registration, Rejection> => {
  if (call.method !== "POST" || call.path !== REGISTER_PATH)
    return Either.left(
      rejection(
        "INVALID_REQUEST_BODY",
        "The forwarded request is not a registration.",
        "Bring all peers to one version.",
      ),
    );
  return Either.flatMap(parseRegisterRequest(call.rawBody), (request) =>
    Either.map(normalizeCredential(providers, request.algorithm, request.publicKey64), ({ credential, keyBytes }) => {
      const descriptor = descriptorJson(credential);
      return {
        id: request.id,
        ref: approverRef(request.id, refDigest(crypto.sha256, descriptor)),
        descriptor,
        keyIdentity: keyIdentityOf(crypto, credential.algorithm, keyBytes),
        metadata: request.metadata,
      };
    }),
  );
};

/** What the registration does to the registry, at the time the writer proposes it. */
export const registrationEffects = (registration: Registration, proposedAt: number): Effects => ({
  ...registration,
  baseRevision: undefined,
  newRevision: 1,
  createdAt: proposedAt,
  updatedAt: proposedAt,
  registrationId: undefined,
  responseDigest: undefined,
  observations: undefined,
});

/** The stored approver that effects lead to; equal bytes on every peer. */
export const approverRow = (effects: Effects): Rows["approvers"] => ({
  id: effects.id,
  ref: effects.ref,
  descriptor: effects.descriptor,
  keyIdentity: effects.keyIdentity,
  metadata: effects.metadata,
  revision: effects.newRevision,
  createdAt: effects.createdAt,
  updatedAt: effects.updatedAt,
});
