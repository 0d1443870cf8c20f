/**
 * The meaning of a registration request: its approver, computed from the request
 * alone, so that every member can compute it again and compare bytes.
 */
import { Either } from "effect";
import { keyIdentityOf } from "../../credential/KeyIdentity.ts";
import type { Metadata } from "../../credential/Metadata.ts";
import { parseRegisterRequest } from "../../credential/RegisterRequest.ts";
import { descriptorJson, normalizeCredential, refDigest } from "../../credential/SignatureCredential.ts";
import { approverRef } from "../../credential/ApproverRef.ts";
import type { Crypto } from "../../crypto/Crypto.ts";
import type { Digest } from "../../base/Digest.ts";
import { memoized } from "../../base/Memo.ts";
import type { Intent, Means } from "../../protocol/Command.ts";
import type { Call } from "../../protocol/Forward.ts";
import { type Rejection, rejection } from "../../base/Rejection.ts";
import { registrationLocks } from "../approvers/Locks.ts";

/** Where approvers are registered; a version's own path lies below it. */
export const REGISTER_PATH = "/v1/custody/approvers";

export interface Registration extends Intent {
  readonly kind: "REGISTER";
  readonly id: string;
  readonly descriptor: string;
  readonly keyIdentity: Digest;
  readonly metadata: Metadata;
}

type Meaning = Either.Either<Registration, Rejection>;

const understood = memoized(({ rawBody }: Call, crypto: Crypto, providers: Means["providers"]): Meaning => {
  const request = parseRegisterRequest(rawBody);
  if (Either.isLeft(request)) return Either.left(request.left);
  const { id, algorithm, publicKey64, metadata } = request.right;
  const normalized = normalizeCredential(providers, algorithm, publicKey64);
  if (Either.isLeft(normalized)) return Either.left(normalized.left);
  const { credential, keyBytes } = normalized.right;
  const descriptor = descriptorJson(credential);
  const ref = approverRef(id, refDigest(crypto.sha256OfText, descriptor));
  const keyIdentity = keyIdentityOf(crypto, credential.algorithm, keyBytes);
  return Either.right({
    kind: "REGISTER",
    locks: registrationLocks({ keyIdentity, ref }),
    deadline: Number.POSITIVE_INFINITY,
    id,
    ref,
    descriptor,
    keyIdentity,
    metadata,
  });
});

/** Reads and validates a registration; the left side names every field at fault. */
export const registrationOf = ({ crypto, providers }: Means, call: Call): Meaning =>
  understood(call, crypto, providers);

/** The answer to a claim of a key that another id owns, in either format. */
export const keyConflict = (ref: string): Rejection =>
  rejection(
    "KEY_ALREADY_REGISTERED",
    "The same key is registered under another id.",
    "Use the existing approver, or register another key.",
    { ref },
  );
