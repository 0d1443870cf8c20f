import { expect, it } from "vitest";
import { GrowingBytes } from "./GrowingBytes.ts";

const numbered = (length: number): Uint8Array => Uint8Array.from({ length }, (_, index) => index % 251);

it("bytes that come one by one are one array, which keeps no piece", () => {
  for (const length of [0, 1, 255, 256, 257, 1000]) {
    const all = numbered(length);
    const piece = new Uint8Array(1);
    const bytes = new GrowingBytes(length);
    for (const byte of all) {
      piece[0] = byte;
      bytes.add(piece);
    }
    expect(bytes.whole()).toEqual(all);
  }
});

it("pieces of any size are put behind each other", () => {
  const all = numbered(3000);
  for (const size of [7, 256, 999, 3000]) {
    const bytes = new GrowingBytes(3000);
    for (let at = 0; at < all.length; at += size) bytes.add(all.subarray(at, at + size));
    expect(bytes.whole()).toEqual(all);
  }
});

it("what has come has no more memory than it needs, and no other's", () => {
  const bytes = new GrowingBytes(5000);
  bytes.add(numbered(300));
  expect(bytes.whole().buffer.byteLength).toBe(300);
  const one = new GrowingBytes(3);
  one.add(Buffer.from([1, 2, 3]));
  expect([one.whole().constructor, one.whole().buffer.byteLength]).toEqual([Uint8Array, 3]);
});

it("no array is longer than all that may come", () => {
  const bytes = new GrowingBytes(300);
  bytes.add(numbered(200));
  expect(() => bytes.add(numbered(101))).toThrow(RangeError);
});
