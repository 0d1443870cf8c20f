/** A document that holds one policy: `{"fourEye": …}` or `{"policy": …}`, read strictly. */
import { Either } from "effect";
import type { BodyFault, Rejection } from "../base/Rejection.ts";
import { Limits } from "../base/Limits.ts";
import { byField, named, object } from "../codec/Shape.ts";
import { keyIdentityOf } from "../credential/KeyIdentity.ts";
import { bodyRefusal, readDraft } from "../credential/RequestBody.ts";
import { normalizeCredential } from "../credential/SignatureCredential.ts";
import type { SignatureProvider } from "../credential/SignatureProvider.ts";
import type { Crypto } from "../crypto/Crypto.ts";
import { authorityPolicyShape } from "./AuthorityPolicy.ts";
import type { InlineKey, Pin, SubmittedKey } from "./Entry.ts";
import { fourEyeShape } from "./FourEye.ts";
import type { Policy } from "./Policy.ts";

export interface PolicyMeans {
  readonly crypto: Pick<Crypto, "digest" | "sha256OfText">;
  readonly providers: ReadonlyMap<string, SignatureProvider>;
}

/** The policy of a key, or that of an authority: one at a time. */
export const policyShape = named(
  "Policy",
  byField({ fourEye: object({ fourEye: fourEyeShape }), policy: object({ policy: authorityPolicyShape }) }),
);

const POINTER_OF_CREDENTIAL = "/credential";

/** The key in normal form, or its faults, which point into the document. */
const inlineKey = (
  { crypto, providers }: PolicyMeans,
  { pointer, algorithm, publicKey64 }: SubmittedKey,
): Either.Either<InlineKey, ReadonlyArray<BodyFault>> =>
  Either.mapBoth(normalizeCredential(providers, algorithm, publicKey64), {
    onLeft: ({ faults }) =>
      faults.map((fault) => ({ ...fault, pointer: pointer + fault.pointer.slice(POINTER_OF_CREDENTIAL.length) })),
    onRight: ({ credential, keyBytes }) => ({
      _tag: "Inline" as const,
      credential,
      keyIdentity: keyIdentityOf(crypto, credential.algorithm, keyBytes),
    }),
  });

/**
 * Reads a policy. It pauses before each inline key, whose check may take milliseconds: whoever runs it may do other
 * things then.
 *
 * @param body the document, of at most {@link Limits.policyBytes} bytes
 * @returns the policy with inline keys in normal form; or `INVALID_REQUEST_BODY`, every fault by its pointer (as many as
 *   a rejection lists): malformed JSON (one fault), unknown, missing and wrongly typed fields, numbers out of range,
 *   counts that do not fit, refs that are not complete, unknown aliases, keys that their provider refuses
 */
export function* readPolicy(
  means: PolicyMeans,
  body: Uint8Array,
): Generator<undefined, Either.Either<Policy, Rejection>> {
  const { read, faults } = readDraft(body, policyShape, Limits.policyBytes);
  // Where there are faults elsewhere, members may be missing.
  const fourEye = read !== undefined && "fourEye" in read ? read.fourEye : undefined;
  const entries: ReadonlyArray<Pin | SubmittedKey> | undefined = fourEye?.keys;
  const keys: Array<Pin | InlineKey> = [];
  for (const entry of entries ?? []) {
    if (entry._tag === "Pin") {
      keys.push(entry);
      continue;
    }
    yield;
    const key = inlineKey(means, entry);
    if (Either.isRight(key)) keys.push(key.right);
    else faults.push(...key.left);
  }
  if (read === undefined || faults.length > 0) return Either.left(bodyRefusal("a policy", faults));
  if ("policy" in read) return Either.right({ _tag: "Authority", policy: read.policy });
  return Either.right({ _tag: "FourEye", fourEye: { ...read.fourEye, keys } });
}
