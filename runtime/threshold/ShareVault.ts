/**
 * How shares rest, version 1:
 *
 *     version 1 | nonce 24 | ciphertext | tag 16
 *
 * XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha); the place is authenticated, and the key comes from the share key by
 * HKDF-SHA256 (RFC 5869) for each generation of each key.
 */
import { xchacha20poly1305 } from "@noble/ciphers/chacha.js";
import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { digest, record, text, uint } from "../../core/codec/Codec.ts";
import { encode } from "../../core/codec/CborWriter.ts";
import { Secret } from "../../core/threshold/Secret.ts";
import type { SharePlace, ShareVault } from "../../core/threshold/Suite.ts";
import { Limits } from "../../core/base/Limits.ts";

const VERSION = 1;
const NONCE_BYTES = 24;
const TAG_BYTES = 16;
const CIPHERTEXT_AT = 1 + NONCE_BYTES;
const INFO = "CUSTODY_SHARE_V1";

const placeCodec = record({
  clusterId: digest,
  peerId: uint,
  keyId: text(Limits.keyIdCharacters),
  generation: uint,
  transcript: digest,
  verifyingShare: text(2 * Limits.publicKeyBytes),
});

/**
 * @param shareKey 32 secret bytes that only the unsealed peer has
 * @returns a vault whose boxes open with this key alone
 */
export const shareVault = (shareKey: Secret): ShareVault => {
  const cipherFor = (place: SharePlace, nonce: Uint8Array) => {
    const key = hkdf(
      sha256,
      shareKey.expose(),
      undefined,
      utf8ToBytes(`${INFO} ${place.keyId} ${place.generation}`),
      32,
    );
    return xchacha20poly1305(key, nonce, encode(placeCodec, place));
  };
  return {
    seal: (place, secret, entropy) => {
      const nonce = entropy.expose().subarray(0, NONCE_BYTES);
      return Uint8Array.of(VERSION, ...nonce, ...cipherFor(place, nonce).encrypt(secret.expose()));
    },
    open: (place, box) => {
      if (box.length <= CIPHERTEXT_AT + TAG_BYTES || box[0] !== VERSION) return undefined;
      try {
        const opened = cipherFor(place, box.slice(1, CIPHERTEXT_AT)).decrypt(box.slice(CIPHERTEXT_AT));
        const secret = new Secret(opened);
        opened.fill(0);
        return secret;
      } catch {
        // The lengths are right, so the only failure left is that of the tag.
        return undefined;
      }
    },
  };
};
