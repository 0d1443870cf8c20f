import fc from "fast-check";
import { expect, it } from "vitest";
import { compareUtf8, isUtf8, shortAscii, utf8Bytes, utf8Length } from "./Utf8.ts";
import { everyEdge } from "../../properties/Utf8Edges.ts";

const anyString = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.constantFrom("a", "\u007f", "\u0080", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "😀") }),
);

it("counts the bytes an encoder writes", () => {
  fc.assert(
    fc.property(anyString, (text) => {
      expect(utf8Length(text)).toBe(Buffer.byteLength(text));
    }),
  );
});

it("has no count for half a surrogate pair", () => {
  for (const text of [
    "\ud800",
    "\udc00",
    "a\ud800",
    "\ud800a",
    "\ud800\ud800",
    "\udc00\ud800",
    "\udc00\udc00",
    "\ud800\ue000",
    "😀\ud83d",
  ]) {
    expect(utf8Length(text)).toBeUndefined();
  }
  expect(utf8Length("\ud83d\ude00")).toBe(4);
});

it("orders strings as their bytes are ordered", () => {
  fc.assert(
    fc.property(anyString, anyString, (left, right) => {
      expect(Math.sign(compareUtf8(left, right))).toBe(Buffer.compare(Buffer.from(left), Buffer.from(right)));
    }),
    { numRuns: 1000 },
  );
  expect(compareUtf8("\uffff", "\u{10000}")).toBeLessThan(0);
});

it.each(["", "a", "ab\u007f", "é", "aé", "\u0080", "€", "😀"])("writes the bytes of %j", (text) => {
  expect(utf8Bytes(text)).toEqual(Uint8Array.from(Buffer.from(text)));
});

it("knows UTF-8 by every byte of a character, as the platform's decoder does", () => {
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  const isDecoded = (bytes: Uint8Array): boolean => {
    try {
      utf8.decode(bytes);
      return true;
    } catch {
      return false;
    }
  };
  const edges = everyEdge();
  const wrong = edges.filter((bytes) => isUtf8(bytes, 0, bytes.length) !== isDecoded(bytes));
  expect(wrong).toEqual([]);
  expect(edges.filter(isDecoded).length).toBeGreaterThan(500);
});

it("judges a range by its own bytes alone", () => {
  const bytes = Uint8Array.of(0xff, 0x41, 0xc3, 0xa9, 0x80);
  expect([isUtf8(bytes, 1, 4), isUtf8(bytes, 1, 3), isUtf8(bytes, 2, 5), isUtf8(bytes, 1, 1)]).toEqual([
    true,
    false,
    false,
    true,
  ]);
  expect(isUtf8(Uint8Array.of(0x80, 0x80), 0, 1)).toBe(false);
});

it("makes a text of up to 64 ASCII bytes at once", () => {
  const letters = (count: number) => new Uint8Array(count + 2).fill(0x61);
  expect(shortAscii(letters(64), 1, 65)).toBe("a".repeat(64));
  expect(shortAscii(letters(65), 1, 66)).toBeUndefined();
  expect(shortAscii(Uint8Array.of(0xff, 0x00, 0x7f, 0xff), 1, 3)).toBe("\u0000\u007f");
  expect(shortAscii(Uint8Array.of(0x61, 0x80), 0, 2)).toBeUndefined();
});
