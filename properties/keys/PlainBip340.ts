/** Verification of BIP 340 as its text says it, in plain numbers: a second opinion that shares nothing with the library. */
import { createHash } from "node:crypto";

const p = 2n ** 256n - 2n ** 32n - 977n;
const n = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const G: Affine = {
  x: 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  y: 0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
};

interface Affine {
  readonly x: bigint;
  readonly y: bigint;
}
/** Undefined is the point at infinity. */
type Point = Affine | undefined;

const mod = (value: bigint): bigint => ((value % p) + p) % p;

const power = (base: bigint, exponent: bigint): bigint => {
  let result = 1n;
  for (let square = mod(base), left = exponent; left > 0n; left >>= 1n, square = mod(square * square))
    if ((left & 1n) === 1n) result = mod(result * square);
  return result;
};

const inverse = (value: bigint): bigint => power(value, p - 2n);

const sum = (a: Point, b: Point): Point => {
  if (a === undefined) return b;
  if (b === undefined) return a;
  if (a.x === b.x && a.y !== b.y) return undefined;
  const slope = a.x === b.x ? mod(3n * a.x * a.x * inverse(2n * a.y)) : mod((b.y - a.y) * inverse(b.x - a.x));
  const x = mod(slope * slope - a.x - b.x);
  return { x, y: mod(slope * (a.x - x) - a.y) };
};

const times = (scalar: bigint, point: Point): Point => {
  let result: Point;
  for (let doubled = point, left = scalar; left > 0n; left >>= 1n, doubled = sum(doubled, doubled))
    if ((left & 1n) === 1n) result = sum(result, doubled);
  return result;
};

/** The point of this x whose y is even. */
const lifted = (x: bigint): Point => {
  if (x >= p) return undefined;
  const square = mod(x * x * x + 7n);
  const y = power(square, (p + 1n) / 4n);
  if (mod(y * y) !== square) return undefined;
  return { x, y: (y & 1n) === 0n ? y : p - y };
};

const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString("hex")}`);

export const taggedHash = (tag: string, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const name = createHash("sha256").update(tag).digest();
  return createHash("sha256")
    .update(Buffer.concat([name, name, ...parts]))
    .digest();
};

/** @param publicKey 32 bytes; @param signature 64 bytes */
export const verifiesBip340 = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean => {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  const key = lifted(numberOf(publicKey));
  const r = numberOf(signature.subarray(0, 32));
  const s = numberOf(signature.subarray(32));
  if (key === undefined || r >= p || s >= n) return false;
  const e = numberOf(taggedHash("BIP0340/challenge", signature.subarray(0, 32), publicKey, message)) % n;
  const R = sum(times(s, G), times((n - e) % n, key));
  return R !== undefined && (R.y & 1n) === 0n && R.x === r;
};

/** The output key of BIP 341 for an inner key and no script (BIP 86); both are x coordinates of 32 bytes. */
export const outputKey = (inner: Uint8Array): Buffer => {
  const tweak = numberOf(taggedHash("TapTweak", inner));
  const tweaked = sum(lifted(numberOf(inner)), times(tweak, G));
  return Buffer.from((tweaked?.x ?? 0n).toString(16).padStart(64, "0"), "hex");
};
