/** What simulated keys are made and used with: stand-ins for suites of all kinds, in the toy group, and for boxes. */
import { hexToBytes } from "@noble/hashes/utils.js";
import { Secret } from "../../core/threshold/Secret.ts";
import type { SoloScheme } from "../../core/threshold/SoloScheme.ts";
import type { ThresholdScheme } from "../../core/threshold/ThresholdScheme.ts";
import type { KeyCrypto, ShareVault, Suite } from "../../core/threshold/Suite.ts";
import { shareVault } from "../../runtime/threshold/ShareVault.ts";
import type { Prng } from "../base/Prng.ts";
import { newToyVault, toyBoxes } from "./ToyBoxes.ts";
import { challengeOf, elementOf, expanded, hashed, isSignature, numberOf, scalarOf, secretOf } from "./ToyGroup.ts";
import { toyScheme } from "./ToyThreshold.ts";

const toySolo: SoloScheme = {
  keyOf: (seed) => {
    const [number = 1n] = expanded(seed, "solo", 1);
    return { publicKey: elementOf(number), secret: secretOf(number) };
  },
  scalarOf: (secret) => secretOf(numberOf(secret) ?? 0n),
  sign: (secret, message, entropy) => {
    const number = numberOf(secret) ?? 0n;
    const nonce = hashed("solo nonce", entropy.expose(), message);
    const commitment = elementOf(nonce);
    return commitment + scalarOf(nonce + challengeOf(commitment, elementOf(number), message) * number);
  },
};

const toySuite = (
  algorithm: string,
  scheme: string,
  shared: ThresholdScheme | undefined,
  messageBytes?: number,
): Suite => ({
  algorithm,
  scheme,
  shared,
  solo: toySolo,
  messageBytes,
  verify: isSignature,
  spki: (publicKey) => Uint8Array.of(0x30, ...hexToBytes(publicKey)),
});

/** One that signs any bytes, one that signs digests alone, and one that no shares sign with. */
export const simKeyCrypto: KeyCrypto = {
  suites: [
    toySuite("ED25519", "EdDSA", toyScheme),
    toySuite("SECP256K1", "BIP340", toyScheme, 32),
    toySuite("P256", "ECDSA", undefined, 32),
  ],
  boxes: toyBoxes,
};

/** The vault of one peer. */
export const newVault = newToyVault;

/** The same as a real peer's. */
export const newRealVault = (entropy: Prng): ShareVault => shareVault(new Secret(hexToBytes(entropy.digest())));
