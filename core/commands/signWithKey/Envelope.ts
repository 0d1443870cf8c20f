/**
 * The envelope of an operation, and its digest D: the operation's id, and what approvers will sign.
 *
 *     D = SHA-256( "SERVICE_OPERATION_V1" || 00 || canonical JSON of the envelope )
 *
 * Everything that decides about the operation is in it, the message included: two messages never have one D.
 */
import type { Digest } from "../../base/Digest.ts";
import { type CanonicalValue, canonicalJson } from "../../codec/CanonicalJson.ts";
import type { Crypto } from "../../crypto/Crypto.ts";
import type { Generation } from "../keys/KeyRecord.ts";
import { commandOf, type SigningRequest } from "./SigningRequest.ts";

const OPERATION_TAG = "SERVICE_OPERATION_V1";

/** What makes two equal requests two operations; times in Unix milliseconds. */
export interface Occasion {
  readonly nonce: string;
  readonly timestamp: number;
  /** The deadline: it never moves. */
  readonly expiresAt: number;
}

export interface Signing {
  readonly clusterId: Digest;
  readonly owner: { readonly iss: string | undefined; readonly sub: string };
  readonly generation: Pick<Generation, "keyId" | "generation" | "record">;
  readonly request: SigningRequest;
  readonly occasion: Occasion;
}

const NONCE = /^[A-Za-z0-9_-]{22,128}$/;

export const isNonce = (nonce: string): boolean => NONCE.test(nonce);

/** The envelope, with defaults written out; the issuer of a token without one is the empty text. */
export const envelopeOf = ({ clusterId, owner, generation, request, occasion }: Signing): CanonicalValue => ({
  version: 1,
  cluster: clusterId,
  kind: "SIGN",
  owner: { iss: owner.iss ?? "", sub: owner.sub },
  keyId: generation.keyId,
  generation: generation.generation,
  record: `sha256:${generation.record}`,
  request: { command: commandOf(request), generation: generation.generation },
  nonce: occasion.nonce,
  timestamp: occasion.timestamp,
  expiresAt: occasion.expiresAt,
});

/** D, as hexadecimal characters. */
export const operationDigest = ({ sha256OfText }: Pick<Crypto, "sha256OfText">, envelope: CanonicalValue): Digest =>
  sha256OfText(`${OPERATION_TAG}\u0000${canonicalJson(envelope)}`);
