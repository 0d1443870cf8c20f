/** A policy that was read: whom it lists, and the digest that stands for it. */
import type { Digest } from "../base/Digest.ts";
import { type CanonicalValue, canonicalJson } from "../codec/CanonicalJson.ts";
import { memberPointer } from "../codec/JsonPointer.ts";
import type { Crypto } from "../crypto/Crypto.ts";
import type { AuthorityPolicy } from "./AuthorityPolicy.ts";
import type { Entry } from "./Entry.ts";
import type { FourEye } from "./FourEye.ts";

export type Policy =
  | { readonly _tag: "FourEye"; readonly fourEye: FourEye }
  | { readonly _tag: "Authority"; readonly policy: AuthorityPolicy };

/** An entry and where it stands in the document. */
export interface Listed {
  /** RFC 6901. */
  readonly pointer: string;
  readonly entry: Entry;
}

/** Every entry, whether a group names it or not. */
export const listedIn = (policy: Policy): ReadonlyArray<Listed> =>
  policy._tag === "FourEye"
    ? policy.fourEye.keys.map((entry, index) => ({ pointer: memberPointer("/fourEye/keys", index), entry }))
    : [...policy.policy.approvers].map(([alias, entry]) => ({
        pointer: memberPointer("/policy/approvers", alias),
        entry,
      }));

/** The tag and separator before every policy. */
const POLICY_PREFIX = "SERVICE_POLICY_V1\u0000";

const entryValue = (entry: Entry): CanonicalValue =>
  entry._tag === "Pin" ? { ref: entry.ref } : { ...entry.credential };

const documentOf = (policy: Policy): CanonicalValue => {
  if (policy._tag === "FourEye") {
    const { mode, m, n, keys } = policy.fourEye;
    return { version: 1, fourEye: { mode, m, n, keys: keys.map(entryValue) } };
  }
  const { id, fallback, approvers, fallbackApprovals } = policy.policy;
  const pins = new Map([...approvers].map(([alias, pin]) => [alias, entryValue(pin)] as const));
  return {
    version: 1,
    policy: {
      id,
      fallback,
      approvers: pins,
      ...(fallbackApprovals && { fallbackApprovals: { ...fallbackApprovals } }),
    },
  };
};

/**
 * SHA-256 over `SERVICE_POLICY_V1`, a zero byte and the canonical JSON of the policy with `version: 1`: refs as they
 * were written, inline keys in normal form, lists in their order. Nothing that a pin comes to is in it, so no later
 * version of an approver and no change of metadata changes it (contract 9.3).
 */
export const policyDigest = (crypto: Pick<Crypto, "sha256OfText">, policy: Policy): Digest =>
  crypto.sha256OfText(POLICY_PREFIX + canonicalJson(documentOf(policy)));
