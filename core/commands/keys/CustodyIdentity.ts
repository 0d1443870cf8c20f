/** The identity of a custody key among all keys: the one that its public key would have as an approver's (contract 2.2.6). */
import { hexToBytes } from "@noble/hashes/utils.js";
import { keyIdentityOf } from "../../credential/KeyIdentity.ts";
import type { Crypto } from "../../crypto/Crypto.ts";
import type { Digest } from "../../base/Digest.ts";
import type { Generation, Key } from "./KeyRecord.ts";

const X_BYTES = 32;
const EVEN = 2;

/** An x coordinate stands for the point with the even y (BIP 340); every other key is in its approver's form already. */
const approverForm = (algorithm: string, publicKey: string): Uint8Array => {
  const bytes = hexToBytes(publicKey);
  return algorithm === "SECP256K1" && bytes.length === X_BYTES ? Uint8Array.of(EVEN, ...bytes) : bytes;
};

/** @param publicKey as verifiers know it, hexadecimal */
export const custodyIdentity = (
  crypto: Pick<Crypto, "digest">,
  { algorithm }: Pick<Key, "algorithm">,
  { publicKey }: Pick<Generation, "publicKey">,
): Digest => keyIdentityOf(crypto, algorithm, approverForm(algorithm, publicKey));
