/**
 * A group of prime order in which everybody may take logarithms: an element is a number times one fixed number, and what
 * it is times is found by a division. All of the algebra of the real groups holds in it, in microseconds. The elements of
 * a key do not contain its shares, so that a secret in clear is told from what is public.
 */
import { Mixer } from "../base/Mixer.ts";
import { Secret } from "../../core/threshold/Secret.ts";
import type { Element, Scalar, ShareIndex } from "../../core/threshold/ThresholdScheme.ts";

/** 2^61 - 1, a prime. */
const ORDER = (1n << 61n) - 1n;
const GENERATOR = 0x0b5a_3c7d_19e8_642fn;
const SCALAR_DIGITS = 16;
const SCALAR_BYTES = 8;
/** What elements begin with. */
const MARK = "54";
const FORM = /^[0-9a-f]{16}$/;

export const modulo = (value: bigint): bigint => {
  const rest = value % ORDER;
  return rest < 0n ? rest + ORDER : rest;
};

const power = (base: bigint, exponent: bigint): bigint => {
  let result = 1n;
  let square = base;
  for (let left = exponent; left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) result = (result * square) % ORDER;
    square = (square * square) % ORDER;
  }
  return result;
};

/** Fermat; of zero there is none. */
const inverse = (value: bigint): bigint => power(modulo(value), ORDER - 2n);
const PER_GENERATOR = inverse(GENERATOR);

const digitsOf = (value: bigint): string => value.toString(16).padStart(SCALAR_DIGITS, "0");

const numberIn = (digits: string): bigint | undefined => {
  if (!FORM.test(digits)) return undefined;
  const value = BigInt(`0x${digits}`);
  return value < ORDER ? value : undefined;
};

/** The generator so many times, which is not zero times. */
export const elementOf = (logarithm: bigint): Element => (MARK + digitsOf(modulo(logarithm * GENERATOR))) as Element;

/** How many times it is the generator; undefined for what is no element, or the identity. */
export const logarithmOf = (element: string): bigint | undefined => {
  const value = element.startsWith(MARK) ? numberIn(element.slice(MARK.length)) : undefined;
  return value === undefined || value === 0n ? undefined : (value * PER_GENERATOR) % ORDER;
};

export const scalarOf = (value: bigint): Scalar => digitsOf(modulo(value)) as Scalar;

export const valueOf = (scalar: string): bigint | undefined => numberIn(scalar);

export const secretOf = (value: bigint): Secret => {
  const bytes = new Uint8Array(SCALAR_BYTES);
  new DataView(bytes.buffer).setBigUint64(0, modulo(value));
  return new Secret(bytes);
};

/** Undefined where the bytes are no scalar. */
export const numberOf = (secret: Secret | undefined): bigint | undefined => {
  const bytes = secret?.expose();
  if (bytes?.length !== SCALAR_BYTES) return undefined;
  const value = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0);
  return value < ORDER ? value : undefined;
};

const mixer = new Mixer();

/** A number that follows from all of these; never zero. */
export const hashed = (purpose: string, ...parts: ReadonlyArray<string | Uint8Array>): bigint => {
  mixer.reset(31);
  mixer.text(purpose);
  for (const part of parts)
    if (typeof part === "string") mixer.text(part);
    else mixer.bytes(part);
  const { first, second } = mixer;
  return (((BigInt(first >>> 0) << 32n) | BigInt(second >>> 0)) % (ORDER - 1n)) + 1n;
};

/** Numbers that a seed gives for one purpose. */
export const expanded = (seed: Secret, purpose: string, count: number): ReadonlyArray<bigint> =>
  Array.from({ length: count }, (_, at) => hashed(`${purpose} ${at}`, seed.expose()));

/** The value at `x` of the polynomial with these coefficients, the constant one first. */
export const valueAt = (coefficients: ReadonlyArray<bigint>, x: ShareIndex): bigint =>
  coefficients.reduceRight((sum, each) => modulo(sum * BigInt(x) + each), 0n);

/** Share indexes are small, and so are their differences: the same few come again and again. */
const inverses = new Map<bigint, bigint>();

const inverseOfSmall = (value: bigint): bigint => {
  const known = inverses.get(value);
  if (known !== undefined) return known;
  const made = inverse(value);
  if (inverses.size < 1_024) inverses.set(value, made);
  return made;
};

/** What the value at `index` is multiplied by, so that those of all indexes add up to the one at `x`. */
export const weightOf = (indexes: ReadonlyArray<ShareIndex>, index: ShareIndex, x: ShareIndex): bigint => {
  let over = 1n;
  let under = 1n;
  for (const each of indexes)
    if (each !== index) {
      over = modulo(over * BigInt(x - each));
      under = modulo(under * BigInt(index - each));
    }
  return modulo(over * inverseOfSmall(under));
};

/** What a signature multiplies the key by. */
export const challengeOf = (commitment: string, publicKey: string, message: Uint8Array): bigint =>
  hashed("challenge", commitment, publicKey, message);

/** A signature is the element of its nonce and a scalar. */
export const isSignature = (publicKey: string, message: Uint8Array, signature: string): boolean => {
  const commitment = signature.slice(0, MARK.length + SCALAR_DIGITS);
  const key = logarithmOf(publicKey);
  const nonce = logarithmOf(commitment);
  const answer = valueOf(signature.slice(commitment.length));
  if (key === undefined || nonce === undefined || answer === undefined) return false;
  return answer === modulo(nonce + challengeOf(commitment, publicKey, message) * key);
};
