/**
 * Points of Ed25519 for the library's FROST, computed by libsodium: an eighth of the portable ones' time, and nothing of
 * the protocol is written anew.
 *
 * A point is a sum of multiples that is added up when its encoding is asked for: the library adds multiples by doubling
 * step by step, and each call of a compiled library costs as much as ten steps. Secret multiples, which are of the base
 * point alone, are computed at once, in constant time.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import sodium, { ready } from "libsodium-wrappers-sumo";
import { RecentMap } from "../../runtime/RecentMap.ts";

await ready;

const { Fn, Fp } = ed25519.Point;
const LAST = Fn.ORDER - 1n;
const BYTES = 32;
const IDENTITY = Uint8Array.from({ length: BYTES }, (_, at) => (at === 0 ? 1 : 0));
const BASE_HEX = ed25519.Point.BASE.toHex();

/** Encodings that were checked or computed here lately: those of a key come again with each of its signatures. */
const KNOWN_POINTS = 4096;
const known = new RecentMap<true>(KNOWN_POINTS);

/** A multiple of one point. */
interface Term {
  /** An element of the group, in its encoding; the same object wherever it is the same point. */
  readonly of: Uint8Array;
  readonly times: bigint;
}

const BASE_BYTES = hexToBytes(BASE_HEX);

/** Multiples of what others may see: a coordinator needs those of its own share once more for the signature. */
const KNOWN_MULTIPLES = 256;
const multiples = new RecentMap<Uint8Array>(KNOWN_MULTIPLES);

const multiple = ({ of, times }: Term): Uint8Array => {
  const scalar = Fn.toBytes(times);
  if (of === BASE_BYTES) return sodium.crypto_scalarmult_ed25519_base_noclamp(scalar);
  const name = bytesToHex(of) + bytesToHex(scalar);
  const before = multiples.get(name);
  if (before !== undefined) return before;
  const made = sodium.crypto_scalarmult_ed25519_noclamp(scalar, of);
  multiples.set(name, made);
  return made;
};

/** The sum of what is left after multiples of the order are gone; undefined for the identity. */
const sumOf = (terms: ReadonlyArray<Term>): Uint8Array => {
  let sum: Uint8Array | undefined;
  for (const { of, times } of terms) {
    const left = Fn.create(times);
    if (left === 0n) continue;
    if (sum === undefined) sum = left === 1n ? of : multiple({ of, times: left });
    else if (left === LAST) sum = sodium.crypto_core_ed25519_sub(sum, of);
    else sum = sodium.crypto_core_ed25519_add(sum, left === 1n ? of : multiple({ of, times: left }));
  }
  return sum ?? IDENTITY;
};

const isIdentity = (bytes: Uint8Array): boolean => bytes.every((byte, at) => byte === IDENTITY[at]);

export class SodiumPoint {
  static readonly Fn = Fn;
  static readonly Fp = Fp;
  static readonly BASE = new SodiumPoint([{ of: BASE_BYTES, times: 1n }]);
  static readonly ZERO = new SodiumPoint([]);

  #terms: ReadonlyArray<Term>;
  #bytes: Uint8Array | undefined;

  private constructor(terms: ReadonlyArray<Term>) {
    this.#terms = terms;
  }

  /** Throws for what is not the one encoding of a point in the subgroup of prime order. */
  static fromBytes(this: void, bytes: Uint8Array): SodiumPoint {
    if (bytes.length !== BYTES) throw new RangeError(`a point has ${BYTES} bytes`);
    if (isIdentity(bytes)) return SodiumPoint.ZERO;
    const hex = bytesToHex(bytes);
    if (known.get(hex) === undefined) {
      if (!sodium.crypto_core_ed25519_is_valid_point(bytes)) throw new RangeError("not an element of the group");
      known.set(hex, true);
    }
    return new SodiumPoint([{ of: hex === BASE_HEX ? BASE_BYTES : Uint8Array.from(bytes), times: 1n }]);
  }

  static fromHex(this: void, hex: string): SodiumPoint {
    return SodiumPoint.fromBytes(hexToBytes(hex));
  }

  static fromAffine(this: void, affine: { readonly x: bigint; readonly y: bigint }): SodiumPoint {
    return SodiumPoint.fromBytes(ed25519.Point.fromAffine(affine).toBytes());
  }

  /** Secret multiples are those of the base point. */
  multiply(scalar: bigint): SodiumPoint {
    if (!Fn.isValidNot0(scalar)) throw new RangeError("not a scalar other than zero");
    const product = this.multiplyUnsafe(scalar);
    product.toBytes();
    return product;
  }

  multiplyUnsafe(scalar: bigint): SodiumPoint {
    return new SodiumPoint(
      this.#terms.map(({ of, times }) => ({ of, times: Fn.mul(Fn.create(times), Fn.create(scalar)) })),
    );
  }

  add(other: SodiumPoint): SodiumPoint {
    const terms = [...this.#terms];
    for (const term of other.#terms) {
      const at = terms.findIndex(({ of }) => of === term.of);
      const same = terms[at];
      if (same === undefined) terms.push(term);
      else terms[at] = { of: term.of, times: same.times + term.times };
    }
    return new SodiumPoint(terms);
  }

  double(): SodiumPoint {
    return new SodiumPoint(this.#terms.map(({ of, times }) => ({ of, times: times + times })));
  }

  negate(): SodiumPoint {
    return new SodiumPoint(this.#terms.map(({ of, times }) => ({ of, times: -times })));
  }

  subtract(other: SodiumPoint): SodiumPoint {
    return this.add(other.negate());
  }

  equals(other: SodiumPoint): boolean {
    return this.subtract(other).is0();
  }

  is0(): boolean {
    return isIdentity(this.toBytes());
  }

  /** All of these are. */
  isTorsionFree(): boolean {
    return true;
  }

  isSmallOrder(): boolean {
    return this.is0();
  }

  assertValidity(): void {
    // What is none is never made.
  }

  /** There is no cofactor in the subgroup of prime order: a multiple is the identity where this is. */
  clearCofactor(): this {
    return this;
  }

  /** There is nothing to prepare. */
  precompute(): this {
    return this;
  }

  /** Not to be written to. */
  toBytes(): Uint8Array {
    if (this.#bytes !== undefined) return this.#bytes;
    const bytes = sumOf(this.#terms);
    this.#bytes = bytes;
    if (isIdentity(bytes)) this.#terms = [];
    else {
      known.set(bytesToHex(bytes), true);
      if (this.#terms.length > 1 || this.#terms[0]?.times !== 1n) this.#terms = [{ of: bytes, times: 1n }];
    }
    return bytes;
  }

  toHex(): string {
    return bytesToHex(this.toBytes());
  }

  toAffine(): { x: bigint; y: bigint } {
    return ed25519.Point.fromBytes(this.toBytes()).toAffine();
  }

  get x(): bigint {
    return this.toAffine().x;
  }

  get y(): bigint {
    return this.toAffine().y;
  }
}
