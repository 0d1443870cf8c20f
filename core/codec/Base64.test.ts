import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BASE64_PATTERN, base64, strictBase64 } from "./Base64.ts";

const LONGEST = 64;
/** Nearly valid texts: mostly of the alphabet, mixed with padding, white space and the other alphabet. */
const nearly = fc.stringOf(fc.constantFrom(..."AQgwBEv09+/+/=-_= \n\u0000\u0080é"), { maxLength: 24 });

describe("canonical Base64", () => {
  it("is what the platform writes for bytes of any length, and comes back", () => {
    for (let length = 0; length <= LONGEST; length += 1) {
      const each = Uint8Array.from({ length }, (_, index) => (index * 151 + length) % 256);
      const text = base64(each);
      expect(text).toBe(Buffer.from(each).toString("base64"));
      expect(strictBase64(text, LONGEST)).toEqual(each);
    }
  });

  it("is only what the platform would write for the bytes it reads, and what its pattern says", () => {
    const reads = fc.property(nearly, (text) => {
      const read = Buffer.from(text, "base64");
      const expected = read.toString("base64") === text ? Uint8Array.from(read) : undefined;
      expect(strictBase64(text, LONGEST)).toEqual(expected);
      expect(new RegExp(BASE64_PATTERN, "u").test(text)).toBe(expected !== undefined);
    });
    fc.assert(reads, { numRuns: 2000 });
    for (const text of ["=", "==", "====", "A===", "AA=A", "AA", "AAA", "AB==", "AAB=", "AAA-", "AA==\n"])
      expect(strictBase64(text, LONGEST)).toBeUndefined();
  });

  it("is read up to its limit and not one byte beyond", () => {
    for (let longest = 0; longest < 8; longest += 1) {
      expect(strictBase64(base64(new Uint8Array(longest)), longest)).toEqual(new Uint8Array(longest));
      expect(strictBase64(base64(new Uint8Array(longest + 3)), longest)).toBeUndefined();
    }
    expect(strictBase64(base64(new Uint8Array(3)), 1)).toBeUndefined();
  });
});
