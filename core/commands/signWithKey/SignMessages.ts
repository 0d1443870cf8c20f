/** What the coordinator of a signature and its signers say to each other (docs/protocol.md, Keys). */
import { bytes, digest, list, record, text, type TypeOf, uint, type Variant } from "../../codec/Codec.ts";
import { Limits } from "../../base/Limits.ts";
import { sinceKeys } from "../keys/Tables.ts";

const ELEMENT_CHARACTERS = 66;

/** The call whose signature is wanted, with the bearer token that permits it; never stored. */
export const signingEvidenceCodec = record({
  path: text(2048),
  rawBody: bytes(Limits.signingBodyBytes),
  token: text(16 * 1024),
});
export type SigningEvidence = TypeOf<typeof signingEvidenceCodec>;

/** RFC 9591 5.1. */
export const commitmentsCodec = record({
  index: uint,
  hiding: text(ELEMENT_CHARACTERS),
  binding: text(ELEMENT_CHARACTERS),
});

export const signMessages = {
  /** The coordinator asks a member to sign: everything that it judges for itself. */
  "Sign.Open": sinceKeys(
    record({
      /** Chosen by the coordinator for this attempt. */
      sessionId: digest,
      evidence: signingEvidenceCodec,
      generation: uint,
      /** Of the operation's envelope: made by the coordinator where no approval is needed. */
      nonce: text(128),
      /** Unix milliseconds. */
      timestamp: uint,
      expiresAt: uint,
    }),
  ),
  /** The member would sign: commitments to nonces that serve this session alone. */
  "Sign.Commit": sinceKeys(record({ sessionId: digest, commitments: commitmentsCodec })),
  /** The member does not sign: the code and sentence of what was found; binds nobody. */
  "Sign.Refused": sinceKeys(record({ sessionId: digest, code: text(64), detail: text(1024), generation: uint })),
  /** The signers' commitments, the receiver's own among them, and what is signed. */
  "Sign.Package": sinceKeys(
    record({
      sessionId: digest,
      commitments: list(commitmentsCodec, Limits.members),
      messageDigest: digest,
    }),
  ),
  /** The member's share of the signature; its consent was flushed before. */
  "Sign.Share": sinceKeys(record({ sessionId: digest, index: uint, scalar: text(64) })),
};
export type SignMessage = Variant<typeof signMessages>;
export type SignMessageOf<T extends SignMessage["_tag"]> = Extract<SignMessage, { readonly _tag: T }>;
