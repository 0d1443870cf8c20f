/** ECDSA signatures as attestation and certificates carry them: DER of two integers (RFC 3279 section 2.2.3). */
import type { CurveName } from "./CeremonyCrypto.ts";

const FIELD_BYTES: { readonly [C in CurveName]: number } = { "P-256": 32, "P-384": 48, "P-521": 66 };

const SEQUENCE = 0x30;
const INTEGER = 0x02;
/** From here on a length takes an octet that counts its octets; of the curves only the largest needs it. */
const LONG = 0x80;
const ONE_OCTET = 0x81;

/**
 * Reads a signature strictly: shortest lengths, shortest integers, none negative, nothing behind.
 *
 * @returns `r || s`, each as long as the field of the curve; or undefined
 */
export const ecdsaSignature = (curve: CurveName, der: Uint8Array): Uint8Array | undefined => {
  const size = FIELD_BYTES[curve];
  const isLong = der[1] === ONE_OCTET;
  const start = isLong ? 3 : 2;
  const length = der.length - start;
  if (der[0] !== SEQUENCE || der[start - 1] !== length || length >= LONG !== isLong) return undefined;
  const signature = new Uint8Array(2 * size);
  const between = readInteger(der, start, signature.subarray(0, size));
  const end = between === undefined ? undefined : readInteger(der, between, signature.subarray(size));
  return end === der.length ? signature : undefined;
};

/**
 * Reads an integer into the end of a field of zeros.
 *
 * @returns where it ends; undefined where there is none, or none that fits
 */
const readInteger = (der: Uint8Array, at: number, field: Uint8Array): number | undefined => {
  const length = der[at + 1] ?? 0;
  const start = at + 2;
  const end = start + length;
  const [first = LONG, second = LONG] = der.subarray(start, end);
  // Less than half a byte is positive, and a zero before it would be one too many.
  const isShortest = first < 0x80 && (first !== 0 || length === 1 || second >= 0x80);
  if (der[at] !== INTEGER || length === 0 || length >= LONG || end > der.length || !isShortest) return undefined;
  const digits = der.subarray(first === 0 ? start + 1 : start, end);
  if (digits.length > field.length) return undefined;
  field.set(digits, field.length - digits.length);
  return end;
};
