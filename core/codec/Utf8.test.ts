import fc from "fast-check";
import { expect, it } from "vitest";
import { utf8Bytes, utf8Length, utf8Text } from "./Utf8.ts";
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

it.each(["", "a", "ab\u007f", "é", "aé", "\u0080", "€", "😀"])("writes the bytes of %j", (text) => {
  expect(utf8Bytes(text)).toEqual(Uint8Array.from(Buffer.from(text)));
});

it("reads UTF-8 and nothing else, a leading U+FEFF included", () => {
  const edges = everyEdge();
  // Node replaces malformed bytes by a character that is encoded as other bytes.
  const wrong = edges.filter((bytes) => {
    const text = Buffer.from(bytes).toString("utf8");
    return utf8Text(bytes) !== (Buffer.compare(Buffer.from(text), bytes) === 0 ? text : undefined);
  });
  expect(wrong).toEqual([]);
  expect(edges.filter((bytes) => utf8Text(bytes) !== undefined).length).toBeGreaterThan(500);
  expect(utf8Text(Uint8Array.of(0xef, 0xbb, 0xbf, 0x41))).toBe("\ufeffA");
});

it("reads a range by its own bytes alone, however long it is", () => {
  const bytes = Uint8Array.of(0xff, 0x41, 0xc3, 0xa9, 0x80);
  const ranges = [utf8Text(bytes, 1, 4), utf8Text(bytes, 1, 3), utf8Text(bytes, 2, 5), utf8Text(bytes, 1, 1)];
  expect(ranges).toEqual(["Aé", undefined, undefined, ""]);
  expect(utf8Text(Uint8Array.of(0xff, 0x00, 0x7f, 0xff), 1, 3)).toBe("\u0000\u007f");
  for (const length of [63, 64, 65, 200])
    expect(utf8Text(Buffer.from(`é${"a".repeat(length)}`), 2)).toBe("a".repeat(length));
});
