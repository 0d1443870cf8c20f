import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { parseStrictYaml } from "./StrictYaml.ts";

const nestedList = (levels: number): string => `a: ${"[".repeat(levels)}${"]".repeat(levels)}`;

describe("parseStrictYaml", () => {
  it("reads one document of mappings, lists and scalars", () => {
    expect(parseStrictYaml("a: 1\nb: [x, 'y']\nc: {d: true}\ne:\n")).toEqual(
      Either.right({ a: 1, b: ["x", "y"], c: { d: true }, e: null }),
    );
    expect(parseStrictYaml("# nothing\n")).toEqual(Either.right(null));
  });

  it("keeps YAML 1.2 words as text", () => {
    expect(parseStrictYaml("a: yes\nb: 1_000\nc: 2020-01-01\n")).toEqual(
      Either.right({ a: "yes", b: "1_000", c: "2020-01-01" }),
    );
  });

  it("keeps __proto__ as a key like any other", () => {
    const parsed = Either.getOrThrow(parseStrictYaml("__proto__: {admin: true}\n"));
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(Object.keys(parsed ?? {})).toEqual(["__proto__"]);
  });

  it.each([
    ["a duplicate key", "a: 1\na: 2\n", /^line 2: a key stands twice/],
    ["a duplicate key in another spelling", '1: a\n"1": b\n', /^line 2: a key stands twice/],
    ["an alias", "a: &x 1\nb: *x\n", /^line 1: anchors/],
    ["an anchor without alias", "a: &x {b: 1}\n", /^line 1: anchors/],
    ["an unknown tag", "a: 1\nb: !secret 1\n", /^line 2: tags/],
    ["a standard tag", "a: !!str 1\n", /^line 1: tags/],
    ["a tagged mapping", "a: !!map {b: 1}\n", /^line 1: tags/],
    ["a version directive", "%YAML 1.1\n---\na: yes\n", /directives/],
    ["a tag directive", "%TAG ! tag:x,2000:\n---\na: 1\n", /directives/],
    ["two documents", "a: 1\n---\nb: 1\n", /more than one document/],
    ["a mapping as key", "? {a: 1}\n: 1\n", /a key is not plain text/],
    ["tabs", "a:\n\tb: 1\n", /^line 2/],
    ["an open bracket", "a: [1\n", /not valid YAML/],
  ])("refuses %s", (_name, text, message) => {
    expect(Either.getOrThrow(Either.flip(parseStrictYaml(text)))).toMatch(message);
  });

  it("never quotes the text", () => {
    for (const text of ["hunter2: 1\nhunter2: 2\n", "a: hunter2: b\n", "hunter2\n: [", "a: &hunter2 1\n"]) {
      expect(Either.getOrThrow(Either.flip(parseStrictYaml(text)))).not.toContain("hunter2");
    }
  });

  it("bounds nesting before the recursive part of the library runs", () => {
    expect(Either.isRight(parseStrictYaml(nestedList(30)))).toBe(true);
    expect(parseStrictYaml(nestedList(31))).toEqual(Either.left("is nested deeper than 32 levels; flatten it"));
    for (const bomb of [nestedList(100_000), "[".repeat(260_000), "- ".repeat(130_000), "{a: ".repeat(65_000)]) {
      expect(parseStrictYaml(bomb)).toEqual(Either.left("is nested deeper than 32 levels; flatten it"));
    }
  });

  it("bounds the number of elements", () => {
    const keys = Array.from({ length: 30_000 }, (_, index) => `k${index}: 1`).join("\n");
    expect(parseStrictYaml(keys)).toEqual(Either.left("holds too many elements; shorten it"));
  });
});
