import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { base64Url, base64UrlFault, strictBase64Url } from "./Base64Url.ts";

const LONGEST = 64;
const bytes = fc.uint8Array({ maxLength: LONGEST });
/** Nearly valid texts: mostly of the alphabet, mixed with padding, white space and the other alphabet. */
const nearly = fc.stringOf(fc.constantFrom(..."AQgwBEv09-_-_+/= \n\u0000\u0080é\u{1f511}"), { maxLength: 24 });

describe("canonical Base64url", () => {
  it("is what the platform writes, and comes back", () => {
    const writes = fc.property(bytes, (each) => {
      const text = base64Url(each);
      expect(text).toBe(Buffer.from(each).toString("base64url"));
      expect(strictBase64Url(text, LONGEST)).toEqual(each);
    });
    fc.assert(writes, { numRuns: 300 });
  });

  it("is the same for bytes of any length", () => {
    for (let length = 0; length <= LONGEST; length += 1) {
      const each = Uint8Array.from({ length }, (_, index) => (index * 151 + length) % 256);
      const text = base64Url(each);
      expect(text).toBe(Buffer.from(each).toString("base64url"));
      expect(strictBase64Url(text, LONGEST)).toEqual(each);
    }
  });

  it("is only what the platform would write for the bytes it reads", () => {
    const reads = fc.property(nearly, (text) => {
      const read = Buffer.from(text, "base64url");
      const expected = read.toString("base64url") === text ? Uint8Array.from(read) : undefined;
      expect(strictBase64Url(text, LONGEST)).toEqual(expected);
    });
    fc.assert(reads, { numRuns: 2000 });
    for (const text of ["A", "AB", "AAB", "AA==", "AA\n", "\n", "AAA+", "AAA/", "AAAAA", "AAAé", "AAA\u{1f511}"])
      expect(strictBase64Url(text, LONGEST)).toBeUndefined();
  });

  it("is read up to its limit and not one byte beyond", () => {
    for (let longest = 0; longest < 9; longest += 1) {
      const fits = new Uint8Array(longest).fill(0xa5);
      expect(strictBase64Url(base64Url(fits), longest)).toEqual(fits);
      expect(strictBase64Url(base64Url(new Uint8Array(longest + 1)), longest)).toBeUndefined();
    }
  });

  it.each([
    ["AAA=", "; character 4 is padding."],
    ["A+AA", "; character 2 is one of the other alphabet, which has + and / for - and _."],
    ["/AAA", "; character 1 is one of the other alphabet, which has + and / for - and _."],
    ["AA\n", "; character 3 is white space."],
    ["AAAé", "; character 4 is none of the alphabet."],
    ["AAAAAAAAA", ", which are 8 characters; there are 9."],
    ["AAAAA", "; no bytes are 5 characters long."],
    ["AB", "; the last character has bits set that no byte has."],
    ["AAB", "; the last character has bits set that no byte has."],
  ])("is not %j, and why", (text, why) => {
    expect(strictBase64Url(text, 6)).toBeUndefined();
    expect(base64UrlFault(text, 6)).toBe(`This must be unpadded Base64url of at most 6 bytes${why}`);
  });
});
