/**
 * How the integrity keys after the first rest on disk, version 1:
 *
 *     version 1 | nonce 24 | ciphertext 32 | tag 16
 *
 * XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha) over the seed, with the public key authenticated. The key comes from the
 * identity seed by HKDF-SHA256 (RFC 5869): only the content of the vault opens these.
 */
import { xchacha20poly1305 } from "@noble/ciphers/chacha.js";
import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import type { PublicKey } from "../../core/base/Digest.ts";

const version = 1;
const nonceBytes = 24;
const seedBytes = 32;
const tagBytes = 16;
const ciphertextAt = 1 + nonceBytes;
const blobBytes = ciphertextAt + seedBytes + tagBytes;

const keyInfo = utf8ToBytes("CUSTODY_INTEGRITY_WRAP_V1");

export interface KeyWrap {
  /**
   * Encrypts the seed of an integrity key.
   *
   * @param nonce 24 fresh random bytes
   * @throws RangeError for a seed or nonce of another length: a fault of the caller, never of input
   */
  readonly wrap: (publicKey: PublicKey, seed: Uint8Array, nonce: Uint8Array) => Uint8Array;
  /** The seed; undefined when this peer did not encrypt it for this public key. Overwrite it when done. */
  readonly unwrap: (publicKey: PublicKey, blob: Uint8Array) => Uint8Array | undefined;
}

/** @param identitySeed may be overwritten afterwards */
export const keyWrap = (identitySeed: Uint8Array): KeyWrap => {
  const key = hkdf(sha256, identitySeed, undefined, keyInfo, 32);
  return {
    wrap: (publicKey, seed, nonce) => {
      if (seed.length !== seedBytes || nonce.length !== nonceBytes)
        throw new RangeError("a seed is 32 bytes long, a nonce 24");
      const ciphertext = xchacha20poly1305(key, nonce, hexToBytes(publicKey)).encrypt(seed);
      return Uint8Array.of(version, ...nonce, ...ciphertext);
    },
    unwrap: (publicKey, blob) => {
      if (blob.length !== blobBytes || blob[0] !== version) return undefined;
      const nonce = blob.slice(1, ciphertextAt);
      try {
        return xchacha20poly1305(key, nonce, hexToBytes(publicKey)).decrypt(blob.slice(ciphertextAt));
      } catch {
        // The lengths are right, so the only failure left is that of the tag.
        return undefined;
      }
    },
  };
};
