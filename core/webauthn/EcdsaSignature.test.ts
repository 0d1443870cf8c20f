import { DER } from "@noble/curves/abstract/weierstrass.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ecdsaSignature } from "./EcdsaSignature.ts";

const curves = [
  ["P-256", 32],
  ["P-384", 48],
  ["P-521", 66],
] as const;

const hexOf = (value: bigint, size: number): string => value.toString(16).padStart(2 * size, "0");

/** The result of a strict reader that is not ours. */
const expected = (der: Uint8Array, size: number): string | undefined => {
  const { r, s } = Either.getOrElse(
    Either.try(() => DER.toSig(der)),
    () => ({ r: undefined, s: undefined }),
  );
  if (r === undefined || s === undefined) return undefined;
  const limit = 1n << BigInt(8 * size);
  return r < limit && s < limit ? hexOf(r, size) + hexOf(s, size) : undefined;
};

describe.each(curves)("a signature on %s", (curve, size) => {
  const read = (der: Uint8Array): string | undefined => {
    const signature = ecdsaSignature(curve, der);
    return signature === undefined ? undefined : bytesToHex(signature);
  };
  /** Numbers of every length, some needing a zero before them, some one octet too long. */
  const integer = fc
    .record({ bits: fc.nat({ max: 8 * size + 1 }), below: fc.bigUintN(8 * size) })
    .map(({ bits, below }) => below & ((1n << BigInt(bits)) - 1n));
  const signature = fc.tuple(integer, integer).map(([r, s]) => hexToBytes(DER.hexFromSig({ r, s })));

  it("is read out of its one form", () => {
    fc.assert(
      fc.property(signature, (der) => {
        expect(read(der)).toBe(expected(der, size));
      }),
      { numRuns: 200 },
    );
    const top = (1n << BigInt(8 * size)) - 1n;
    expect(read(hexToBytes(DER.hexFromSig({ r: top, s: 0n })))).toBe(hexOf(top, size) + hexOf(0n, size));
    expect(read(hexToBytes(DER.hexFromSig({ r: top + 1n, s: 1n })))).toBeUndefined();
  });

  it("is refused where another strict reader refuses it, whatever is changed", () => {
    const near = fc.tuple(
      signature,
      fc.array(fc.record({ at: fc.nat({ max: 2 * size + 9 }), byte: fc.integer({ min: 0, max: 255 }) }), {
        minLength: 1,
        maxLength: 3,
      }),
      fc.constantFrom(-1, 0, 0, 0, 1),
    );
    const changed = fc.property(near, ([der, changes, longer]) => {
      const bytes = new Uint8Array(der.length + longer);
      bytes.set(der.subarray(0, bytes.length));
      for (const { at, byte } of changes) if (at < bytes.length) bytes[at] = byte;
      expect(read(bytes)).toBe(expected(bytes, size));
    });
    fc.assert(changed, { numRuns: 1000 });
  });

  it("has no long form of a length that is short, no padding and no sign", () => {
    const unfit = [
      "",
      "30",
      "3000",
      "3006020101020101",
      "300602010102010100",
      "30810602010102 0101",
      "30050200020101",
      "30050201010200",
      "300702020001020101",
      "3006020180020101",
      "30060201010201",
      "3080020101020101",
      "310602010102 0101",
    ].map((hex) => hexToBytes(hex.replaceAll(" ", "")));
    const [, , , fits, ...others] = unfit;
    expect(read(fits ?? new Uint8Array())).toBe(hexOf(1n, size) + hexOf(1n, size));
    for (const der of others) expect(read(der)).toBeUndefined();
    for (const der of unfit.slice(0, 3)) expect(read(der)).toBeUndefined();
  });
});
