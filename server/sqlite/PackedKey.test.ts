import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { packKey, unpackKey } from "./PackedKey.ts";

const key = fc.oneof(
  fc.string({ unit: "binary-ascii", maxLength: 40 }),
  fc.string({ unit: fc.constantFrom("0", "1", "9", "a", "b", "f", "g", "/", ":", "`"), maxLength: 12 }),
);

describe("a packed key", () => {
  it("is shorter where the key is of hex digits, and always the same", () => {
    const hex = "0123456789abcdef";
    expect(Buffer.from(packKey("0123456789abcdef")).toString("hex")).toBe("0891a2b3c4d6f37bc0");
    expect(packKey(hex.repeat(4)).length).toBe(34);
    expect(packKey("0000000000001704").length).toBe(10);
    expect(packKey("").length).toBe(0);
  });

  it("gives back the key", () => {
    fc.assert(
      fc.property(key, (text) => {
        expect(unpackKey(packKey(text))).toBe(text);
      }),
    );
  });

  it("is in the order of keys, beginnings first", () => {
    const order = (left: string, right: string): number => Buffer.compare(Buffer.from(left), Buffer.from(right));
    fc.assert(
      fc.property(key, key, (left, right) => {
        expect(Buffer.compare(packKey(left), packKey(right))).toBe(order(left, right));
        expect(Buffer.compare(packKey(left), packKey(left + right))).toBe(order(left, left + right));
      }),
    );
    expect(Buffer.compare(packKey("\u007f"), packKey("\u00e4"))).toBe(-1);
    expect(Buffer.compare(packKey("\u00e4"), packKey("\u20ac"))).toBe(-1);
  });

  it("is the only one that is read as that key", () => {
    let read = 0;
    const bytes = fc.uint8Array({ maxLength: 6 });
    fc.assert(
      fc.property(bytes, (packed) => {
        let text: string;
        try {
          text = unpackKey(packed);
        } catch (fault) {
          expect(fault).toBeInstanceOf(TypeError);
          return;
        }
        read += 1;
        expect(Buffer.from(packKey(text))).toEqual(Buffer.from(packed));
      }),
      { numRuns: 2_000 },
    );
    expect(read).toBeGreaterThan(100);
  });

  it.each([
    ["another byte of zeros", [0b0001_0001, 0]],
    ["no key but zeros", [0]],
    ["half a word", [0b1010_0000]],
    ["a word that stands for nothing", [0b0000_0110, 0b0010_0000]],
    ["more than any key has", Array.from({ length: 1089 }, () => 0x11)],
    ["what is not ASCII", [...packKey("\u00e4")]],
  ])("is not read with %s", (_, bytes) => {
    expect(() => unpackKey(Uint8Array.from(bytes))).toThrow(TypeError);
  });
});
