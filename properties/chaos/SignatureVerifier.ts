/** Verifiers of the keys' signatures that share nothing with the product: OpenSSL, and BIP 340 as its text says it. */
import { createPublicKey, verify } from "node:crypto";
import { verifiesBip340 } from "../keys/PlainBip340.ts";
import type { ShownKey } from "./KeyAnswerText.ts";

/**
 * @param signature hexadecimal
 * @returns false too where the key is in no form that a verifier takes
 */
export const verifiesAs = (
  { scheme, generation: { publicKey64, spki64 } }: Pick<ShownKey, "scheme" | "generation">,
  message: Uint8Array,
  signature: string,
): boolean => {
  const signed = Buffer.from(signature, "hex");
  if (scheme === "BIP340" || scheme === "TAPROOT")
    return verifiesBip340(Buffer.from(publicKey64, "base64"), message, signed);
  if (scheme !== "EdDSA" || spki64 === undefined) return false;
  const key = createPublicKey({ key: Buffer.from(spki64, "base64"), format: "der", type: "spki" });
  return verify(null, message, key, signed);
};
