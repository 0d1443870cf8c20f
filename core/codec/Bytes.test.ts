import fc from "fast-check";
import { expect, it } from "vitest";
import { hasBytesAt, sameBytes } from "./Bytes.ts";

const bytes = fc.uint8Array({ maxLength: 64 });

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
