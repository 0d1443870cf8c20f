/** What the coordinator of a signature and its signers say to each other (docs/protocol.md, Keys). */
import { bytes, digest, list, record, text, type TypeOf, uint, type Variant } from "../../codec/Codec.ts";
import type { Digest } from "../../base/Digest.ts";
import { Limits } from "../../base/Limits.ts";
import type { Crypto } from "../../crypto/Crypto.ts";
import { sinceKeys } from "../keys/Tables.ts";

const ELEMENT_CHARACTERS = 66;

/** Signatures of one round: a member signs them in one step, some ten milliseconds in which it does nothing else. */
export const PACKAGES = 8;

/** The call whose signature is wanted, with the bearer token that permits it and its body as {@link carriedBody} has it; never stored. */
const signingEvidenceCodec = record({
  path: text(2048),
  rawBody: bytes(Limits.carriedBodyBytes),
  token: text(16 * 1024),
});
export type SigningEvidence = TypeOf<typeof signingEvidenceCodec>;

/** RFC 9591 5.1. */
const commitmentsCodec = record({
  index: uint,
  hiding: text(ELEMENT_CHARACTERS),
  binding: text(ELEMENT_CHARACTERS),
});

const packageCodec = record({
  sessionId: digest,
  /** Of all signers of this attempt, the receiver among them. */
  commitments: list(commitmentsCodec, Limits.members),
  messageDigest: digest,
});
export type SaidPackage = TypeOf<typeof packageCodec>;

const shareCodec = record({ sessionId: digest, index: uint, scalar: text(64) });

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
  /** The member does not sign: the code of what was found. Binds nobody. */
  "Sign.Refused": sinceKeys(record({ sessionId: digest, code: text(64) })),
  /** What is signed by whom, of all sessions that are ready: one flush of the receiver serves them all. */
  "Sign.Package": sinceKeys(record({ items: list(packageCodec, PACKAGES) })),
  /** The member's shares of these signatures; its consents were flushed before. */
  "Sign.Share": sinceKeys(record({ items: list(shareCodec, PACKAGES) })),
};
export type SignMessage = Variant<typeof signMessages>;
export type SignMessageOf<T extends SignMessage["_tag"]> = Extract<SignMessage, { readonly _tag: T }>;

/** A name for a package: another one under the same session is refused for ever. */
export const packageDigestOf = (crypto: Pick<Crypto, "digest">, said: SaidPackage): Digest =>
  crypto.digest("CUSTODY_SIGN_PACKAGE_V1", packageCodec, said);
