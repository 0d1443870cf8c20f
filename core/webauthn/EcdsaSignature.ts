/** ECDSA signatures as attestation and certificates carry them: DER of two integers (RFC 3279 section 2.2.3). */
import { DER } from "@noble/curves/abstract/weierstrass.js";
import { Either } from "effect";
import type { CurveName } from "./CeremonyCrypto.ts";

const FIELD_BYTES: { readonly [C in CurveName]: number } = { "P-256": 32, "P-384": 48, "P-521": 66 };

/**
 * Reads a signature strictly: shortest lengths, shortest integers, none negative, nothing behind.
 *
 * @returns `r || s`, each as long as the field of the curve; or undefined
 */
export const ecdsaSignature = (curve: CurveName, der: Uint8Array): Uint8Array | undefined => {
  const integers = Either.getOrUndefined(Either.try(() => DER.toSig(der)));
  if (integers === undefined) return undefined;
  const { r, s } = integers;
  const size = FIELD_BYTES[curve];
  const limit = 1n << BigInt(8 * size);
  if (r >= limit || s >= limit) return undefined;
  const signature = new Uint8Array(2 * size);
  writeInteger(signature, size, r);
  writeInteger(signature, 2 * size, s);
  return signature;
};

/** Big-endian, up to an end. */
const writeInteger = (bytes: Uint8Array, end: number, value: bigint): void => {
  const view = new DataView(bytes.buffer);
  let rest = value;
  for (let at = end - 1; rest > 0n; at -= 1) {
    view.setUint8(at, Number(rest & 0xffn));
    rest >>= 8n;
  }
};
