import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formsOf, Needles } from "./Needles.ts";

const haystack = fc.uint8Array({ minLength: 64, maxLength: 512 });

describe("a search for many secrets", () => {
  it("finds each of them wherever it begins, and what it found is really there", () => {
    fc.assert(
      fc.property(haystack, fc.nat(), fc.integer({ min: 8, max: 40 }), haystack, (hay, at, length, other) => {
        const start = at % (hay.length - length);
        const needle = hay.slice(start, start + length);
        expect(new Needles([other, needle]).isIn(hay)).toBe(true);
        const isThere = Buffer.from(other).includes(Buffer.from(needle));
        expect(new Needles([needle]).isIn(other)).toBe(isThere);
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  it("finds nothing where all but the last byte is there, and nothing among nothing", () => {
    const needle = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9);
    expect(new Needles([needle]).isIn(Uint8Array.of(...needle.slice(0, 8), 0))).toBe(false);
    expect(new Needles([needle]).isIn(needle.slice(0, 8))).toBe(false);
    expect(new Needles([]).isIn(needle)).toBe(false);
  });

  it("looks for bytes, digits, Base64url and Base64, and for nothing too short to be told from chance", () => {
    const bytes = Buffer.alloc(32, 251);
    const needles = new Needles(formsOf(bytes.toString("base64url")));
    for (const form of [bytes.toString("hex"), bytes.toString("base64"), bytes.toString("base64url"), bytes])
      expect(needles.isIn(form)).toBe(true);
    expect(() => new Needles([new Uint8Array(7)])).toThrow(RangeError);
  });
});
