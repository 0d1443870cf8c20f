/**
 * Public keys on the short Weierstrass curves: SEC 1 points.
 *
 * All four curves have prime order, so a point on the curve that is not the
 * identity is in the group.
 */
import type { ECDSA } from "@noble/curves/abstract/weierstrass.js";
import { p256, p384, p521 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { Either } from "effect";
import { bareKey, keyEncodings, type KeyEncoding } from "./SubjectPublicKeyInfo.ts";

const EVEN = 0x02;
const ODD = 0x03;
const COMPRESSED = [EVEN, ODD];
const UNCOMPRESSED = 0x04;
/** The bytes that a DataView reads at once. */
const WORD_BYTES = 8;

/**
 * SEC 1 section 2.3.3: the compressed point. Input is a compressed or uncompressed
 * point, bare or in a SubjectPublicKeyInfo; hybrid points (06, 07), the identity
 * and coordinates not below the field's prime are refused.
 */
const compressedPoint = (curve: ECDSA, encoding: KeyEncoding) => {
  const compressed = compressing(curve);
  return (encoded: Uint8Array): Either.Either<Uint8Array, string> =>
    Either.flatMap(bareKey(encoding, encoded), (point) => {
      const [form = 0] = point;
      const isCompressed = point.length === encoding.keyBytes[0];
      if (isCompressed ? !COMPRESSED.includes(form) : form !== UNCOMPRESSED) {
        return Either.left("The first byte of a point must be 02 or 03 (compressed) or 04 (uncompressed).");
      }
      return Either.try({
        try: () => (isCompressed ? curve.Point.fromBytes(point).toBytes(true) : compressed(point)),
        catch: () => `The bytes are no point of the curve of ${encoding.algorithm}.`,
      });
    });
};

/** The compressed form of an uncompressed point. Checks the equation itself, in a quarter of the library's time. */
const compressing = (curve: ECDSA): ((point: Uint8Array) => Uint8Array) => {
  const { p, a, b } = curve.Point.CURVE();
  return (point) => {
    const middle = (point.length + 1) / 2;
    const view = new DataView(point.buffer, point.byteOffset, point.byteLength);
    const x = numberAt(view, 1, middle);
    const y = numberAt(view, middle, point.length);
    const isOnCurve = x < p && y < p && (y * y - (x * x + a) * x - b) % p === 0n;
    if (!isOnCurve) throw new RangeError("not on the curve");
    const bytes = new Uint8Array(middle);
    bytes[0] = (y & 1n) === 0n ? EVEN : ODD;
    bytes.set(point.subarray(1, middle), 1);
    return bytes;
  };
};

/** A big-endian number, a word at a time: the library takes five times as long, because it parses hexadecimal text. */
const numberAt = (view: DataView, start: number, end: number): bigint => {
  let number = 0n;
  let at = start;
  for (; (end - at) % WORD_BYTES !== 0; at += 1) number = (number << 8n) | BigInt(view.getUint8(at));
  for (; at < end; at += WORD_BYTES) number = (number << 64n) | view.getBigUint64(at);
  return number;
};

export const normalizeP256 = compressedPoint(p256, keyEncodings.P256);
export const normalizeP384 = compressedPoint(p384, keyEncodings.P384);
export const normalizeP521 = compressedPoint(p521, keyEncodings.P521);
export const normalizeSecp256k1 = compressedPoint(secp256k1, keyEncodings.SECP256K1);
