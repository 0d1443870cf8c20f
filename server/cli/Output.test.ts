import { describe, expect, it } from "vitest";
import { jsonLine } from "./Output.ts";

describe("a line of JSON", () => {
  it("means what was given, and has nothing that steers a terminal", () => {
    const given = { "\u001b]0;a\u0007": "\u009b31m\u007f", b: ["\u202e\u2028\u200b", "\u{e0001}", "é😀"], c: null };
    const line = jsonLine(given);
    expect(JSON.parse(line)).toEqual(given);
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(line).toContain("é😀");
  });
});
