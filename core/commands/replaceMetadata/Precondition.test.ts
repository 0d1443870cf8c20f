import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { parseIfMatch } from "./Precondition.ts";

const codeOf = (header: string | undefined): string | number =>
  Either.match(parseIfMatch(header), { onLeft: ({ code }) => code, onRight: (revision) => revision });

describe("If-Match", () => {
  it("is one quoted revision", () => {
    expect(['"1"', '"42"', `"${Number.MAX_SAFE_INTEGER}"`].map(codeOf)).toEqual([1, 42, Number.MAX_SAFE_INTEGER]);
  });

  it("must be there", () => {
    expect(codeOf(undefined)).toBe("PRECONDITION_REQUIRED");
  });

  it.each([
    ["a weak validator", 'W/"1"'],
    ["a wildcard", "*"],
    ["a list", '"1", "2"'],
    ["a list of one with a comma", '"1",'],
    ["nothing", ""],
    ["no quotes", "1"],
    ["one quote", '"1'],
    ["an empty tag", '""'],
    ["zero", '"0"'],
    ["a leading zero", '"01"'],
    ["a sign", '"+1"'],
    ["a fraction", '"1.0"'],
    ["a hexadecimal number", '"0x1"'],
    ["another opaque tag", '"abc"'],
    ["surrounding space", ' "1" '],
    ["a line after it", '"1"\n'],
    ["a number beyond the safe integers", '"9007199254740992"'],
    ["digits of another script", '"١"'],
  ])("fails as %s", (_what, header) => {
    expect(codeOf(header)).toBe("PRECONDITION_FAILED");
  });
});
