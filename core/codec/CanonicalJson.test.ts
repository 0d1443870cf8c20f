import { existsSync, readFileSync } from "node:fs";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, NotCanonical } from "./CanonicalJson.ts";
import { parseStrictJson } from "./StrictJson.ts";

const canonicalText = (text: string | Uint8Array): string =>
  canonicalJson(Either.getOrThrow(parseStrictJson(typeof text === "string" ? utf8ToBytes(text) : text)));

describe("the canonical form", () => {
  it("of a descriptor is the text the contract digests", () => {
    expect(canonicalJson({ version: 1, type: "SIGNATURE", publicKey64: "AA==", algorithm: "ED25519" })).toBe(
      '{"algorithm":"ED25519","publicKey64":"AA==","type":"SIGNATURE","version":1}',
    );
  });

  it("sorts keys by UTF-16 code units, at every level", () => {
    // U+10000 is D800 DC00 in UTF-16 and comes before U+E000; by code points it would come after.
    expect(canonicalText('{"\ue000":0,"\ud800\udc00":1,"b":{"z":[{"y":2,"x":3}]},"B":4,"":5}')).toBe(
      '{"":5,"B":4,"b":{"z":[{"x":3,"y":2}]},"\ud800\udc00":1,"\ue000":0}',
    );
  });

  it("escapes what RFC 8785 section 3.2.2.2 names, and nothing else", () => {
    const controls = String.fromCharCode(...Array.from({ length: 0x20 }, (_, index) => index));
    expect(canonicalJson(`${controls}"\\/\u007f\u2028é`)).toBe(
      '"\\u0000\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000b\\f\\r\\u000e\\u000f' +
        "\\u0010\\u0011\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017\\u0018\\u0019\\u001a\\u001b\\u001c\\u001d\\u001e\\u001f" +
        '\\"\\\\/\u007f\u2028é"',
    );
  });

  it.each(["\u0000", "\u001f", '"', "\\", " ", "~", "\u007f", "a\nb"])("quotes %j as ECMAScript does", (text) => {
    expect(canonicalJson(text)).toBe(JSON.stringify(text));
    expect(canonicalJson({ [text]: text })).toBe(`{${JSON.stringify(text)}:${JSON.stringify(text)}}`);
  });

  it("has words for the values that are words", () => {
    expect(canonicalJson([true, false, null, [], {}])).toBe("[true,false,null,[],{}]");
  });

  it("is the same for a map and a record, and keeps __proto__", () => {
    const map = new Map<string, number>([
      ["b", 1],
      ["a", 2],
    ]);
    expect(canonicalJson(map)).toBe(canonicalJson({ a: 2, b: 1 }));
    expect(canonicalText('{"__proto__":1}')).toBe('{"__proto__":1}');
  });

  it("of an integer reaches to 2^53 - 1 and no further", () => {
    expect(canonicalJson([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, -0])).toBe(
      "[9007199254740991,-9007199254740991,0]",
    );
    for (const number of [2 ** 53, -(2 ** 53), 0.5, 1e21, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => canonicalJson([number])).toThrow(NotCanonical);
    }
  });

  it("does not exist for half a surrogate pair, in a value or a key", () => {
    for (const text of ["\ud800", "a\udc00", "\udc00\ud800"]) {
      expect(() => canonicalJson(text)).toThrow(NotCanonical);
      expect(() => canonicalJson({ [text]: 1 })).toThrow(NotCanonical);
    }
  });

  it("does not depend on the order of keys, and is a fixed point", () => {
    const value = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom(null, true, false),
        fc.maxSafeInteger(),
        fc.string({ unit: "binary" }),
        fc.array(tie("tree")),
        fc.dictionary(fc.string({ unit: "binary" }), tie("tree")),
      ),
    })).tree;
    fc.assert(
      fc.property(value, (tree) => {
        const text = canonicalText(JSON.stringify(tree));
        expect(canonicalText(reversed(JSON.stringify(tree)))).toBe(text);
        expect(canonicalText(text)).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(tree)));
      }),
    );
  });
});

/** The same document with the members of every object in the opposite order. */
const reversed = (text: string): string => {
  const turn = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(turn).join()}]`;
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    const members = Object.entries(value).toReversed();
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${turn(member)}`).join()}}`;
  };
  return turn(JSON.parse(text));
};

const vectors = new URL("../../../shared/vectors/jcs/", import.meta.url);

describe("the vectors of RFC 8785's author", () => {
  const absent = `${vectors.pathname} is not here`;

  it.for(["arrays", "french", "structures", "unicode", "weird"])("%s", (name, { skip }) => {
    skip(!existsSync(vectors), absent);
    const text = canonicalText(readFileSync(new URL(`input/${name}.json`, vectors)));
    const hex = readFileSync(new URL(`outhex/${name}.txt`, vectors), "utf8").replaceAll(/\s/g, "");
    expect(Buffer.from(text).toString("hex")).toBe(hex);
  });

  it("values is outside the subset, for its fractions", ({ skip }) => {
    skip(!existsSync(vectors), absent);
    expect(() => canonicalText(readFileSync(new URL("input/values.json", vectors)))).toThrow(NotCanonical);
  });
});
