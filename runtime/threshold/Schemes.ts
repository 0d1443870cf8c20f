/** The schemes that keys of a cluster may have; each is the same algebra over a group, and a verifier that others use. */
import { ed25519, ed25519_FROST } from "@noble/curves/ed25519.js";
import { schnorr, schnorr_FROST, secp256k1, secp256k1_FROST } from "@noble/curves/secp256k1.js";
import { hexToBytes } from "@noble/hashes/utils.js";
import type { GroupKey, ThresholdScheme } from "../../core/threshold/ThresholdScheme.ts";
import { noblePrimitives } from "../NobleCrypto.ts";
import type { Group, Point } from "./Group.ts";
import { deal } from "./Deal.ts";
import { keygen } from "./Keygen.ts";
import { refresh } from "./Refresh.ts";
import { repair } from "./Repair.ts";
import { signing } from "./Signing.ts";
import { tweaked, tweakedKey, xOnly } from "./Taproot.ts";

export type Verify = (key: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean;

/** A verifier of characters, which answers where the library throws: wrong lengths, or no element of the group. */
export const verifying =
  (verify: Verify): ThresholdScheme["verify"] =>
  (publicKey, message, signature) => {
    try {
      return verify(hexToBytes(publicKey), message, hexToBytes(signature));
    } catch {
      return false;
    }
  };

/** The scheme over a group whose public keys are as it writes them. */
export const schemeOf = <P extends Point<P>>(
  group: Group<P>,
  verify: Verify,
  publicKey = ({ commitments: [constant] }: GroupKey): string => constant ?? "",
): ThresholdScheme => ({
  publicKey,
  ...keygen(group),
  ...refresh(group),
  ...deal(group, publicKey),
  ...signing(group),
  ...repair(group),
  verify: verifying(verify),
});

/** FROST(Ed25519, SHA-512): signatures are ordinary ones of RFC 8032. */
export const ed25519Scheme = schemeOf(
  { keygen: ed25519_FROST, signing: ed25519_FROST, Point: ed25519.Point },
  noblePrimitives.verifyEd25519,
);

/** The library's other key generation adds a tweak by itself, which neither refresh nor BIP 340 has a use for. */
const curve = { keygen: secp256k1_FROST, signing: schnorr_FROST, Point: secp256k1.Point };

const verifySchnorr: Verify = (key, message, signature) => schnorr.verify(signature, message, key);

/** FROST(secp256k1, SHA-256) with signatures of BIP 340. */
export const bip340Scheme = schemeOf(curve, verifySchnorr, xOnly);

const tweakedX: ThresholdScheme["publicKey"] = (key) => xOnly(tweakedKey(key));

/** The same with the tweak of an output key that commits to no script (BIP 341, BIP 86). */
export const taprootScheme: ThresholdScheme = {
  ...bip340Scheme,
  ...signing(curve, { key: tweakedKey, held: tweaked }),
  ...deal(curve, tweakedX),
  publicKey: tweakedX,
};
