/** The portable primitives: pure JavaScript, the same on every machine. */
import { ed25519, x25519 } from "@noble/curves/ed25519.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { shake128 } from "@noble/hashes/sha3.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import type { CryptoPrimitives } from "./CryptoPrimitives.ts";

const { Point } = ed25519;

const pointOf = (bytes: Uint8Array): InstanceType<typeof Point> | undefined => {
  try {
    // `false`: canonical encodings only (RFC 8032 5.1.3), not the laxer ZIP 215.
    return Point.fromBytes(bytes, false);
  } catch {
    return undefined;
  }
};

/** In the prime-order subgroup and not its identity. */
const isStrictPoint = (bytes: Uint8Array): boolean => {
  const point = pointOf(bytes);
  return point !== undefined && !point.isSmallOrder() && point.isTorsionFree();
};

export const noblePrimitives: CryptoPrimitives = {
  sha256Hex: (bytes) => bytesToHex(sha256(bytes)),
  hmacSha256Hex: (key, bytes) => bytesToHex(hmac(sha256, key, bytes)),
  shake128: (bytes, length) => shake128(bytes, { dkLen: length }),
  // noble's equation is multiplied by the cofactor; with A and R free of torsion that makes no difference.
  verifyEd25519: (key, message, signature) =>
    isStrictPoint(signature.subarray(0, 32)) && ed25519.verify(signature, message, key, { zip215: false }),
  isEd25519Key: isStrictPoint,
  agreementKey: (secret) => x25519.getPublicKey(secret),
  agree: (secret, theirs) => {
    try {
      return x25519.getSharedSecret(secret, theirs);
    } catch {
      return undefined;
    }
  },
};

/** The public key of a 32-byte seed, and signatures under it (RFC 8032 5.1.5, 5.1.6). */
export const nobleSigning = {
  publicKeyOf: (seed: Uint8Array): Uint8Array => ed25519.getPublicKey(seed),
  sign: (seed: Uint8Array, message: Uint8Array): Uint8Array => ed25519.sign(message, seed),
};
