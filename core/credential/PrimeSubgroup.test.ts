import { ED25519_TORSION_SUBGROUP, ed25519 } from "@noble/curves/ed25519.js";
import { ed448 } from "@noble/curves/ed448.js";
import { Either } from "effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isInPrimeSubgroup25519, isInPrimeSubgroup448 } from "./PrimeSubgroup.ts";

const scalar = (order: bigint) => fc.bigInt({ min: 1n, max: order - 1n });

describe("Ed25519", () => {
  const torsion = ED25519_TORSION_SUBGROUP.map((hex) => ed25519.Point.fromHex(hex));
  const contains = (point: InstanceType<typeof ed25519.Point>) => {
    const { x, y } = point.toAffine();
    return isInPrimeSubgroup25519(x, y);
  };

  it("tells the subgroup from each of its seven other cosets", () => {
    expect(torsion.filter((each) => each.is0())).toHaveLength(1);
    fc.assert(
      fc.property(scalar(ed25519.Point.Fn.ORDER), (k) => {
        const point = ed25519.Point.BASE.multiply(k);
        for (const each of torsion) expect(contains(point.add(each))).toBe(each.is0());
      }),
      { numRuns: 200 },
    );
  });

  it("agrees with multiplication by the order on points of any coset", () => {
    const outcomes = new Set<boolean>();
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const point = Either.getOrUndefined(Either.try(() => ed25519.Point.fromBytes(bytes)));
        fc.pre(point !== undefined && !point.isSmallOrder());
        const expected = point?.isTorsionFree() ?? false;
        outcomes.add(expected);
        expect(point !== undefined && contains(point)).toBe(expected);
      }),
      { numRuns: 300 },
    );
    expect(outcomes.size).toBe(2);
  });

  it("takes no point of small order for a key, although nobody asks about one", () => {
    expect(torsion.map(contains)).toEqual(torsion.map(() => false));
  });
});

describe("Ed448", () => {
  const torsion = [
    [0n, 1n],
    [0n, -1n],
    [1n, 0n],
    [-1n, 0n],
  ].map(([x = 0n, y = 0n]) => ed448.Point.fromAffine({ x: ed448.Point.Fp.create(x), y: ed448.Point.Fp.create(y) }));

  it("tells the subgroup from each of its three other cosets", () => {
    fc.assert(
      fc.property(scalar(ed448.Point.Fn.ORDER), (k) => {
        const point = ed448.Point.BASE.multiply(k);
        for (const each of torsion) expect(isInPrimeSubgroup448(point.add(each).y)).toBe(each.is0());
      }),
      { numRuns: 100 },
    );
  });

  it("agrees with multiplication by the order on points of any coset", () => {
    const outcomes = new Set<boolean>();
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 56, maxLength: 56 }), fc.constantFrom(0, 0x80), (bytes, sign) => {
        const point = Either.getOrUndefined(Either.try(() => ed448.Point.fromBytes(Uint8Array.of(...bytes, sign))));
        fc.pre(point !== undefined && !point.isSmallOrder());
        const expected = point?.isTorsionFree() ?? false;
        outcomes.add(expected);
        expect(point !== undefined && isInPrimeSubgroup448(point.y)).toBe(expected);
      }),
      { numRuns: 150 },
    );
    expect(outcomes.size).toBe(2);
  });

  it("takes no point of small order for a key, although nobody asks about one", () => {
    expect(torsion.map(({ y }) => isInPrimeSubgroup448(y))).toEqual(torsion.map(() => false));
  });
});
