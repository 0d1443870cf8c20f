/** One entry of a policy: the pin of a registered approver, or a key that stands in the policy itself (contract 2.6). */
import { Either } from "effect";
import type { BodyFault } from "../base/Rejection.ts";
import type { Digest } from "../base/Digest.ts";
import { decoded, described, object, type Shape, text, word } from "../codec/Shape.ts";
import { parseApproverRef } from "../credential/ApproverRef.ts";
import type { SignatureCredential } from "../credential/SignatureCredential.ts";

/** Nothing but a complete ref, which is kept as it was written: there is no pin of an id or of its latest version. */
export interface Pin {
  readonly _tag: "Pin";
  readonly ref: string;
}

/** The credential of a SIGNATURE record, its key in normal form; a passkey can only be pinned (decision 0029). */
export interface InlineKey {
  readonly _tag: "Inline";
  readonly credential: SignatureCredential;
  readonly keyIdentity: Digest;
}

export type Entry = Pin | InlineKey;

/** An inline key as submitted: well-formed, the key not examined yet. */
export interface SubmittedKey {
  readonly _tag: "Submitted";
  /** Where it stands. */
  readonly pointer: string;
  readonly algorithm: string;
  readonly publicKey64: string;
}

const pin = object({
  ref: decoded({
    decode: (ref) => (Either.isRight(parseApproverRef(ref)) ? ref : undefined),
    faultOf: () => "A pin is a complete ref: the id, @sha256: and 64 lower-case hexadecimal characters.",
    schema: { pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}@sha256:[0-9a-f]{64}$" },
  }),
});

/** The pin of one version; a WEBAUTHN version accepts nothing but WebAuthn assertions (contract 7). */
export const pinShape: Shape<Pin> = {
  schema: pin.schema,
  read: (value, place) => {
    const read = pin.read(value, place);
    return read && { _tag: "Pin", ref: read.ref };
  },
};

const key = object({
  type: word(["SIGNATURE"], "An inline key is SIGNATURE; pin a passkey by its ref."),
  algorithm: text(),
  publicKey64: text(),
});

/** What has a `ref` is a pin, everything else is read as an inline key. */
export const entryShape: Shape<Pin | SubmittedKey> = described("A pin, or the credential of a SIGNATURE record.", {
  schema: { oneOf: [pin.schema, key.schema] },
  read: (value, place) => {
    if (value instanceof Map && value.has("ref")) return pinShape.read(value, place);
    const faults: Array<BodyFault> = [];
    const read = key.read(value, place.notingIn(faults));
    if (read === undefined || faults.length > 0) return place.note(faults);
    return { _tag: "Submitted", pointer: place.pointer, algorithm: read.algorithm, publicKey64: read.publicKey64 };
  },
});
