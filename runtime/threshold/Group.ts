/** A group of prime order and what polynomials over it need: strict forms of elements and scalars, shares, blame. */
import type { FROST, RNG } from "@noble/curves/abstract/frost.js";
import { shake256 } from "@noble/hashes/sha3.js";
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import { Secret } from "../../core/threshold/Secret.ts";
import type { Blame, Element, Parties, Scalar, ShareIndex } from "../../core/threshold/ThresholdScheme.ts";

export interface Point<P> {
  add(other: P): P;
  equals(other: P): boolean;
  is0(): boolean;
  isTorsionFree(): boolean;
  multiply(scalar: bigint): P;
  multiplyUnsafe(scalar: bigint): P;
  toHex(): string;
}

/** The library's protocols over one group; both are the same where nothing is said of signatures. */
export interface Protocols {
  readonly keygen: FROST;
  readonly signing: FROST;
}

export interface Group<P extends Point<P>> extends Protocols {
  readonly Point: { readonly BASE: P; readonly ZERO: P; readonly fromHex: (hex: string) => P };
}

/** What a member sent is not what it must be. */
export class Misfit extends Error {
  readonly indexes: ReadonlyArray<ShareIndex>;

  constructor(indexes: ReadonlyArray<ShareIndex>, why: string) {
    super(why);
    this.indexes = indexes;
  }
}

/** Runs what refuses by throwing, as the library does; without a {@link Misfit} nobody is blamed by name. */
export const attempt = <A>(run: () => A, why: string): Either.Either<A, Blame> => {
  try {
    return Either.right(run());
  } catch (error) {
    return Either.left(error instanceof Misfit ? { indexes: error.indexes, why: error.message } : { indexes: [], why });
  }
};

const holds = (run: () => unknown): boolean => {
  try {
    return run() !== false;
  } catch {
    return false;
  }
};

/** Those of them of whom something does not hold, or throws. */
export const failing = <A extends { readonly index: ShareIndex }>(
  all: ReadonlyArray<A>,
  isGood: (each: A) => unknown,
): ReadonlyArray<ShareIndex> => all.filter((each) => !holds(() => isGood(each))).map(({ index }) => index);

/** Random bytes that a seed gives for one purpose: SHAKE256 over both. */
export const expansion = (seed: Secret, purpose: string): RNG => {
  const stream = shake256
    .create({})
    .update(concatBytes(utf8ToBytes(`CUSTODY_THRESHOLD_V1 ${purpose} `), seed.expose()));
  return (length = 32) => stream.xof(length);
};

/** The library's name of a member. */
export const nameOf = ({ keygen }: Protocols, index: ShareIndex): string => keygen.Identifier.fromNumber(index);

/** Reads an element strictly: in the subgroup of prime order, not its identity, in its one encoding. */
export const pointOf = <P extends Point<P>>({ Point }: Group<P>, element: Element): P => {
  const point = Point.fromHex(element);
  if (point.is0() || !point.isTorsionFree() || point.toHex() !== element) throw new RangeError("not an element");
  return point;
};

export const elementOf = <P extends Point<P>>(point: P): Element => point.toHex() as Element;

/** Reads a scalar strictly. */
export const scalarOf = ({ keygen }: Protocols, bytes: Uint8Array): bigint => keygen.utils.Fn.fromBytes(bytes);

/** The same of what everybody may see. */
export const bytesOfScalar = (group: Protocols, scalar: Scalar): Uint8Array => {
  const bytes = hexToBytes(scalar);
  scalarOf(group, bytes);
  if (bytesToHex(bytes) !== scalar) throw new RangeError("not a scalar");
  return bytes;
};

export const secretOf = ({ keygen }: Protocols, scalar: bigint): Secret => {
  const bytes = keygen.utils.Fn.toBytes(scalar);
  const secret = new Secret(bytes);
  bytes.fill(0);
  return secret;
};

/** A scalar other than zero. */
export const drawScalar = (group: Protocols, random: RNG): bigint =>
  scalarOf(group, group.keygen.utils.randomScalar(random));

/** The value at `x` of the polynomial with these coefficients, the constant one first. */
export const valueAt = ({ keygen }: Protocols, coefficients: ReadonlyArray<bigint>, x: ShareIndex): bigint => {
  const { Fn } = keygen.utils;
  return coefficients.reduceRight((sum, each) => Fn.add(Fn.mul(sum, BigInt(x)), each), Fn.ZERO);
};

/** The generator times the value at `x`, from commitments to the coefficients. */
export const committedAt = <P extends Point<P>>({ Point }: Group<P>, commitments: ReadonlyArray<P>, x: ShareIndex): P =>
  commitments.reduceRight((sum, each) => sum.multiplyUnsafe(BigInt(x)).add(each), Point.ZERO);

/** What the value at `index` is multiplied by, so that the values of all indexes add up to the one at `x`. */
export const weight = (
  { keygen }: Protocols,
  indexes: ReadonlyArray<ShareIndex>,
  index: ShareIndex,
  x: ShareIndex,
): bigint => {
  const { Fn } = keygen.utils;
  const others = indexes.filter((each) => each !== index);
  const over = others.reduce((product, each) => Fn.mul(product, Fn.create(BigInt(x - each))), Fn.ONE);
  const under = others.reduce((product, each) => Fn.mul(product, Fn.create(BigInt(index - each))), Fn.ONE);
  return Fn.div(over, under);
};

/** Throws unless these are parties, and this member one of them: callers know whom they count. */
export const assertParties = ({ threshold, indexes }: Parties, me: ShareIndex): void => {
  const isEach = indexes.every((each) => Number.isSafeInteger(each) && each >= 1);
  const isAll = isEach && new Set(indexes).size === indexes.length && indexes.includes(me);
  if (!isAll || !Number.isSafeInteger(threshold) || threshold < 2 || threshold > indexes.length)
    throw new RangeError(`${threshold} of ${indexes.join(", ")} do not hold a key, or ${me} is none of them`);
};

/** Throws unless each of the other parties has said one thing. */
export const assertOthers = (
  { indexes }: Parties,
  me: ShareIndex,
  heard: ReadonlyArray<ShareIndex>,
  what: string,
): void => {
  const missing = indexes.filter((each) => each !== me && !heard.includes(each));
  if (missing.length > 0) throw new Misfit(missing, `the ${what} is missing`);
  if (heard.length !== indexes.length - 1) throw new Misfit([], `there is more than one ${what} of each`);
};
