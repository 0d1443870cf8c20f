import fc from "fast-check";
import { expect, it } from "vitest";
import { copiedBytes, joinedBytes, zeroBytes } from "./Slab.ts";

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

it("gives arrays that are longer than a slab", () => {
  for (const length of [16_383, 16_384, 16_385]) expect(zeroBytes(length)).toEqual(new Uint8Array(length));
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

it("copies bytes of any length to where nobody writes any more", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.nat(3000), (part, zeros) => {
      const source = new Uint8Array(part.length + zeros);
      source.set(part);
      const copy = copiedBytes(source);
      source.fill(0xff);
      expect([...copy.subarray(0, part.length)]).toEqual([...part]);
      expect(copy.length).toBe(source.length);
      expect(copy.subarray(part.length).every((byte) => byte === 0)).toBe(true);
    }),
  );
});
