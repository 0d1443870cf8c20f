import fc from "fast-check";
import { expect, it } from "vitest";
import { compareUtf8, utf8Length } from "./Utf8.ts";

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
