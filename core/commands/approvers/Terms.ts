/**
 * What approvers are listed by. The index has a row for each term of each approver, under the term's digest and the
 * approver's ref, so that the refs of one term lie together, sorted (docs/decisions/0030-listing.md).
 */
import { oneOf, record, text } from "../../codec/Codec.ts";
import type { Crypto } from "../../crypto/Crypto.ts";
import { memoized } from "../../base/Memo.ts";
import { Limits } from "../../base/Limits.ts";
import type { Approver } from "./Approver.ts";

export const credentialTypes = ["SIGNATURE", "WEBAUTHN"] as const;
export type CredentialType = (typeof credentialTypes)[number];

/** One property that an approver has or has not; `name` is empty for its credential's type. */
export interface Term {
  readonly kind: "TYPE" | "METADATA";
  readonly name: string;
  readonly value: string;
}

const TERM_TAG = "CUSTODY_TERM_V1";
const termCodec = record({
  kind: oneOf(["TYPE", "METADATA"]),
  name: text(Limits.metadataKeyBytes),
  value: text(Limits.metadataValueBytes),
});
/** 128 bits: who makes two terms collide makes lists slower, since every approver found is looked at itself. */
const HEX_DIGITS = 32;

export const typeTerm = (type: CredentialType): Term => ({ kind: "TYPE", name: "", value: type });
export const metadataTerm = ([name, value]: readonly [string, string]): Term => ({ kind: "METADATA", name, value });

/** The beginning of the keys of a term's rows; a ref follows. */
export const termPrefix = (crypto: Pick<Crypto, "digest">, term: Term): string =>
  `${crypto.digest(TERM_TAG, termCodec, term).slice(0, HEX_DIGITS)}/`;

/** The type of an approver's credential. In canonical JSON no string has an unescaped quote, so this is the member. */
export const typeOf = ({ descriptor }: Approver): CredentialType =>
  descriptor.includes('"type":"WEBAUTHN"') ? "WEBAUTHN" : "SIGNATURE";

/** The keys of an approver's rows in the index, each once. */
export const termKeysOf = memoized(
  (approver: Approver, crypto: Crypto): ReadonlySet<string> =>
    new Set(
      [typeTerm(typeOf(approver)), ...approver.metadata.map(metadataTerm)].map(
        (term) => termPrefix(crypto, term) + approver.ref,
      ),
    ),
);

/** What approvers are wanted; an empty filter wants all. */
export interface ApproverFilter {
  readonly id: string | undefined;
  readonly type: CredentialType | undefined;
  /** All of these, in any order. */
  readonly metadata: ReadonlyArray<readonly [name: string, value: string]>;
}

/** Whether an approver is wanted, by the approver itself. */
export const isWanted = ({ id, type, metadata }: ApproverFilter, approver: Approver): boolean =>
  (id === undefined || approver.id === id) &&
  (type === undefined || typeOf(approver) === type) &&
  metadata.every(([name, value]) => approver.metadata.some(([other, its]) => other === name && its === value));
