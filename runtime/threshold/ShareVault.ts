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
import { RecentMap } from "../RecentMap.ts";

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

/** What follows from a place and the share key, kept beside that key: each signature needs it twice. */
interface Placed {
  readonly key: Uint8Array;
  readonly bytes: Uint8Array;
}
const PLACES_KEPT = 64;

/**
 * @param shareKey 32 secret bytes that only the unsealed peer has
 * @returns a vault whose boxes open with this key alone
 */
export const shareVault = (shareKey: Secret): ShareVault => {
  const lately = new RecentMap<Placed>(PLACES_KEPT);
  const placed = (place: SharePlace): Placed => {
    const { clusterId, peerId, keyId, generation, transcript, verifyingShare } = place;
    const name = [clusterId, peerId, keyId, generation, transcript, verifyingShare].join(" ");
    const before = lately.get(name);
    if (before !== undefined) return before;
    const info = utf8ToBytes(`${INFO} ${keyId} ${generation}`);
    const made = { key: hkdf(sha256, shareKey.expose(), undefined, info, 32), bytes: encode(placeCodec, place) };
    lately.set(name, made);
    return made;
  };
  const cipherFor = (place: SharePlace, nonce: Uint8Array) => {
    const { key, bytes } = placed(place);
    return xchacha20poly1305(key, nonce, bytes);
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
