/** Secrets between two members: X25519 (RFC 7748), HKDF-SHA256 (RFC 5869) and XChaCha20-Poly1305. */
import { xchacha20poly1305 } from "@noble/ciphers/chacha.js";
import { x25519 } from "@noble/curves/ed25519.js";
import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { Secret } from "../../core/threshold/Secret.ts";
import type { BoxKey, Boxes } from "../../core/threshold/Suite.ts";

const INFO = "CUSTODY_BOX_V1";
const SECRET_INFO = "CUSTODY_BOX_KEY_V1";
const KEY_BYTES = 32;
const NONCE_BYTES = 24;

const halfOf = (seed: Secret): Uint8Array =>
  hkdf(sha256, seed.expose(), undefined, utf8ToBytes(SECRET_INFO), KEY_BYTES);

/** Key and nonce follow from both keys and the place, which serve one secret only. */
const cipher = (seed: Secret, theirs: BoxKey, place: string, sender: Uint8Array, receiver: Uint8Array) => {
  const shared = x25519.getSharedSecret(halfOf(seed), hexToBytes(theirs));
  const info = concatBytes(utf8ToBytes(INFO), sender, receiver, utf8ToBytes(place));
  const made = hkdf(sha256, shared, undefined, info, KEY_BYTES + NONCE_BYTES);
  return xchacha20poly1305(made.subarray(0, KEY_BYTES), made.subarray(KEY_BYTES));
};

export const sessionBoxes: Boxes = {
  // The type is the encoding.
  keyOf: (seed) => bytesToHex(x25519.getPublicKey(halfOf(seed))) as BoxKey,
  seal: (seed, theirs, place, secret) =>
    cipher(seed, theirs, place, x25519.getPublicKey(halfOf(seed)), hexToBytes(theirs)).encrypt(secret.expose()),
  open: (seed, theirs, place, box) => {
    try {
      const opened = cipher(seed, theirs, place, hexToBytes(theirs), x25519.getPublicKey(halfOf(seed))).decrypt(box);
      const secret = new Secret(opened);
      opened.fill(0);
      return secret;
    } catch {
      // A key that gives no secret (RFC 7748 6.1), a box of other keys or of another place.
      return undefined;
    }
  },
};
