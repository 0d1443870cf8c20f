/** Keys of a peer that is alone, by the library. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { shake256 } from "@noble/hashes/sha3.js";
import { bytesToHex, concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { Secret } from "../../core/threshold/Secret.ts";
import type { SoloScheme } from "../../core/threshold/SoloScheme.ts";

const expanded = (seed: Secret, purpose: string, bytes: number): Uint8Array =>
  shake256(concatBytes(utf8ToBytes(`CUSTODY_SOLO_V1 ${purpose} `), seed.expose()), { dkLen: bytes });

/** RFC 8032: the secret is the seed of 32 bytes, and signatures need no randomness. */
export const soloEd25519: SoloScheme = {
  keyOf: (seed) => {
    const secret = expanded(seed, "ED25519", 32);
    return { publicKey: bytesToHex(ed25519.getPublicKey(secret)), secret: new Secret(secret) };
  },
  sign: (secret, message) => bytesToHex(ed25519.sign(message, secret.expose())),
};
