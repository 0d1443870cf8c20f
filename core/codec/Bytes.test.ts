import fc from "fast-check";
import { expect, it } from "vitest";
import { hasBytesAt, joinedBytes, sameBytes, zeroBytes } from "./Bytes.ts";

const bytes = fc.uint8Array({ maxLength: 64 });

it("gives every array bytes of its own that are zero, whether they share a slab or not", () => {
  // Slabs are begun and left behind on the way, and some arrays are too long for one.
  const lengths = fc.array(fc.oneof(fc.nat(100), fc.nat(3000)), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(lengths, (wanted) => {
      const given = wanted.map((length, index) => {
        const array = zeroBytes(length);
        expect(array.length).toBe(length);
        expect(array.every((byte) => byte === 0)).toBe(true);
        return array.fill(index + 1);
      });
      expect(given.every((array, index) => array.every((byte) => byte === index + 1))).toBe(true);
    }),
  );
});

it("joins two arrays to one of its own", () => {
  fc.assert(
    fc.property(bytes, bytes, (first, second) => {
      const joined = joinedBytes(first, second);
      expect([...joined]).toEqual([...first, ...second]);
      joined.fill(0xff);
      expect([...joinedBytes(first, second)]).toEqual([...first, ...second]);
    }),
  );
});

it("finds a part only where all of it stands", () => {
  fc.assert(
    fc.property(bytes, bytes, fc.nat(64), (whole, part, at) => {
      const there = whole.subarray(at, at + part.length);
      expect(hasBytesAt(whole, at, part)).toBe([...there].join() === [...part].join());
      expect(hasBytesAt(whole, at, there)).toBe(true);
    }),
  );
});

it("tells arrays apart that differ in length or in a byte", () => {
  fc.assert(
    fc.property(bytes, bytes, (left, right) => {
      expect(sameBytes(left, right)).toBe([...left].join() === [...right].join());
      expect(sameBytes(left, Uint8Array.from(left))).toBe(true);
      expect(sameBytes(left, Uint8Array.of(...left, 0))).toBe(false);
    }),
  );
});
