/**
 * K14: a signature that a caller is given verifies under the key that its generation has, by a verifier that signs
 * nothing; a generation that a caller is told of is that of every member.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { schnorr } from "@noble/curves/secp256k1.js";
import { hexToBytes } from "@noble/hashes/utils.js";
import { Violation } from "../base/Violation.ts";
import { isSignature, logarithmOf } from "../crypto/ToyGroup.ts";
import { isSigning, type Signing } from "../requests/KeyRequests.ts";
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { generationAt } from "./KeyFacts.ts";
import { messageOf } from "./Signing.ts";

const verifies = (
  { scheme }: Pick<Signing, "scheme">,
  key: string,
  message: Uint8Array,
  signature: string,
): boolean => {
  if (logarithmOf(key) !== undefined) return isSignature(key, message, signature);
  const [signed, known] = [hexToBytes(signature), hexToBytes(key)];
  if (scheme === "EdDSA") return ed25519.verify(signed, message, known);
  return scheme === "ECDSA"
    ? p256.verify(signed, message, known, { prehash: false })
    : schnorr.verify(signed, message, known);
};

export const K14 = (ghost: Ghost): Checker => ({
  id: "K14",
  replied: ({ slot, store }, { requestId, answer, asked }) => {
    if (ghost.isLying(slot)) return;
    if (answer._tag === "KeyMade") {
      const { keyId, generation, publicKey, transcript } = answer.generation;
      const held = generationAt(store, keyId, generation);
      if (held?.publicKey !== publicKey || held.transcript !== transcript)
        throw new Violation(
          "K14",
          `peer ${slot} told request ${requestId} of generation ${generation} of ${keyId}`,
          "it has none with that key",
        );
    }
    if (answer._tag !== "Signed" || asked === undefined || !isSigning(asked)) return;
    const generation = generationAt(store, asked.keyId, answer.generation);
    if (generation === undefined || !verifies(asked, generation.publicKey, messageOf(asked), answer.signature))
      throw new Violation(
        "K14",
        `peer ${slot} answered request ${requestId} with a signature of generation ${answer.generation} of ${asked.keyId}`,
        generation === undefined ? "it has no such generation" : "it does not verify under its public key",
      );
  },
});
