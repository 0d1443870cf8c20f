/** ECDSA signatures as attestation and certificates carry them: DER of two integers (RFC 3279 section 2.2.3). */
import { zeroBytes } from "../codec/Slab.ts";
import type { CurveName } from "./CeremonyCrypto.ts";

const FIELD_BYTES: { readonly [C in CurveName]: number } = { "P-256": 32, "P-384": 48, "P-521": 66 };

const SEQUENCE = 0x30;
const INTEGER = 0x02;
/** From this length on, an octet counts the length's octets; of the curves only the largest needs it. */
const LONG = 0x80;
const ONE_OCTET = 0x81;

/**
 * Reads a signature strictly: shortest lengths, shortest integers, none negative, nothing after them.
 *
 * @returns `r || s`, each as long as the field of the curve; or undefined
 */
export const ecdsaSignature = (curve: CurveName, der: Uint8Array): Uint8Array | undefined => {
  const size = FIELD_BYTES[curve];
  const isLong = der[1] === ONE_OCTET;
  const start = isLong ? 3 : 2;
  const length = der.length - start;
  if (der[0] !== SEQUENCE || der[start - 1] !== length || length >= LONG !== isLong) return undefined;
  const signature = zeroBytes(2 * size);
  const between = readInteger(der, start, signature, size);
  const end = between === undefined ? undefined : readInteger(der, between, signature, 2 * size);
  return end === der.length ? signature : undefined;
};

/**
 * Reads an integer into a field of zeros, half of the signature, so that it ends at an offset.
 *
 * @returns where the integer ends; undefined where there is none, or none that fits
 */
const readInteger = (der: Uint8Array, at: number, signature: Uint8Array, fieldEnd: number): number | undefined => {
  const length = der[at + 1] ?? 0;
  const start = at + 2;
  const end = start + length;
  if (der[at] !== INTEGER || length === 0 || length >= LONG || end > der.length) return undefined;
  const first = der[start] ?? LONG;
  // A first octet below 0x80 is positive, and a zero before it would be superfluous.
  const isShortest = first < 0x80 && (first !== 0 || length === 1 || (der[start + 1] ?? 0) >= 0x80);
  const digitsAt = first === 0 ? start + 1 : start;
  const target = fieldEnd - (end - digitsAt);
  if (!isShortest || target < fieldEnd - signature.length / 2) return undefined;
  for (let index = digitsAt; index < end; index += 1) signature[target + index - digitsAt] = der[index] ?? 0;
  return end;
};
