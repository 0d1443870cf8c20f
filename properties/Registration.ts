/** Registrations of fresh keys. */
import { generateKeyPairSync } from "node:crypto";

/** A new Ed25519 public key in Base64. */
export const freshKey64 = (): string =>
  generateKeyPairSync("ed25519").publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("base64");

export const registration = (id: string, publicKey64 = freshKey64(), metadata: object = { team: "a" }) => ({
  id,
  credential: { type: "SIGNATURE", algorithm: "ED25519", publicKey64 },
  metadata,
});
