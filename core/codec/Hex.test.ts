import { bytesToHex } from "@noble/hashes/utils.js";
import fc from "fast-check";
import { expect, it } from "vitest";
import { hexOfBytes } from "./Hex.ts";

it("writes what the library writes", () => {
  expect(hexOfBytes(new Uint8Array(0))).toBe("");
  expect(hexOfBytes(Uint8Array.from({ length: 256 }, (_, value) => value))).toMatch(/^000102.*fdfeff$/);
  for (const length of [63, 64, 65, 512]) {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * 151) % 256);
    expect(hexOfBytes(bytes)).toBe(bytesToHex(bytes));
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 512 }), (bytes) => {
      expect(hexOfBytes(bytes)).toBe(bytesToHex(bytes));
    }),
  );
});
