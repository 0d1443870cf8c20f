/**
 * A threshold scheme over a group in which discrete logarithms are read off: an element is its own logarithm, written
 * with a mark before it. All of the algebra is the real one, at a hundredth of the price, and a checker may look.
 */
import { createFROST, type FROSTPoint } from "@noble/curves/abstract/frost.js";
import { Field } from "@noble/curves/abstract/modular.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import type { ThresholdScheme } from "../../core/threshold/ThresholdScheme.ts";
import { schemeOf } from "../../runtime/threshold/Schemes.ts";

/** 2^127 - 1, a prime. */
const Fn = Field((1n << 127n) - 1n);

const MARK = 0x54;

class ToyPoint implements FROSTPoint<ToyPoint> {
  static readonly Fn = Fn;
  static readonly Fp = Fn;
  static readonly BASE = new ToyPoint(1n);
  static readonly ZERO = new ToyPoint(0n);

  static fromAffine({ x }: { readonly x: bigint }): ToyPoint {
    return new ToyPoint(x);
  }

  static fromBytes(bytes: Uint8Array): ToyPoint {
    if (bytes[0] !== MARK) throw new RangeError("no element of the toy group");
    return new ToyPoint(Fn.fromBytes(bytes.subarray(1)));
  }

  static fromHex(hex: string): ToyPoint {
    return ToyPoint.fromBytes(hexToBytes(hex));
  }

  /** The logarithm. */
  readonly x: bigint;

  constructor(x: bigint) {
    this.x = x;
  }

  get y(): bigint {
    return this.x;
  }

  get Z(): bigint {
    return 1n;
  }

  add(other: ToyPoint): ToyPoint {
    return new ToyPoint(Fn.add(this.x, other.x));
  }

  subtract(other: ToyPoint): ToyPoint {
    return new ToyPoint(Fn.sub(this.x, other.x));
  }

  double(): ToyPoint {
    return this.add(this);
  }

  negate(): ToyPoint {
    return new ToyPoint(Fn.neg(this.x));
  }

  multiply(scalar: bigint): ToyPoint {
    return new ToyPoint(Fn.mul(this.x, scalar));
  }

  multiplyUnsafe(scalar: bigint): ToyPoint {
    return this.multiply(scalar);
  }

  equals(other: ToyPoint): boolean {
    return this.x === other.x;
  }

  is0(): boolean {
    return this.x === 0n;
  }

  isTorsionFree(): boolean {
    return true;
  }

  isSmallOrder(): boolean {
    return false;
  }

  assertValidity(): void {
    if (!Fn.isValid(this.x)) throw new RangeError("no element of the toy group");
  }

  clearCofactor(): ToyPoint {
    return this;
  }

  precompute(): ToyPoint {
    return this;
  }

  toAffine(): { x: bigint; y: bigint } {
    return { x: this.x, y: this.x };
  }

  toBytes(): Uint8Array {
    return Uint8Array.of(MARK, ...Fn.toBytes(this.x));
  }

  toHex(): string {
    return bytesToHex(this.toBytes());
  }
}

/** Spreads bytes over 64: collisions are not sought in a simulation. */
const hash = (bytes: Uint8Array) => {
  const out = new Uint8Array(64);
  let low = 0x811c9dc5;
  let high = 0x9e3779b9;
  for (const byte of bytes) {
    low = Math.imul(low ^ byte, 0x01000193);
    high = Math.imul(high ^ (low >>> 13), 0x85ebca6b) + byte;
  }
  for (let at = 0; at < out.length; at++) {
    low = Math.imul(low ^ (high >>> 15) ^ at, 0x2c1b3c6d);
    high = Math.imul(high ^ (low >>> 12), 0x297a2d39);
    out[at] = (low ^ high) >>> 24;
  }
  return out;
};

const frost = createFROST({ name: "FROST-toy-v1", Point: ToyPoint, hash });

export const toyScheme: ThresholdScheme = schemeOf(
  { keygen: frost, signing: frost, Point: ToyPoint },
  (key, message, signature) => frost.verify(signature, message, key),
);
