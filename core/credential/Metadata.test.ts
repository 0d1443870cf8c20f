import { Either } from "effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Limits } from "../base/Limits.ts";
import { validateMetadata } from "./Metadata.ts";

const accepts = (...pairs: ReadonlyArray<readonly [string, string]>): boolean =>
  Either.isRight(validateMetadata(new Map(pairs)));
const refusal = (pairs: Iterable<readonly [string, string]>) =>
  Either.getOrThrow(Either.flip(validateMetadata(new Map(pairs))));
const faults = (...pairs: ReadonlyArray<readonly [string, string]>) =>
  refusal(pairs).faults.map(({ pointer, code }) => [pointer, code]);
const numbered = (count: number, value = ""): ReadonlyArray<readonly [string, string]> =>
  Array.from({ length: count }, (_, index) => [`k${index}`, value] as const);

/** Text of exactly so many UTF-8 bytes, of a character of 1 to 4 bytes and ASCII to fill up. */
const textOf = (bytes: number, character: string): string => {
  const size = Buffer.byteLength(character);
  return character.repeat(Math.floor(bytes / size)) + "x".repeat(bytes % size);
};

const characters = ["a", "é", "€", "😀"];

describe("the limits, in UTF-8 bytes", () => {
  it("are those of the contract", () => {
    const { metadataPairs, metadataKeyBytes, metadataValueBytes, metadataTotalBytes } = Limits;
    expect([metadataPairs, metadataKeyBytes, metadataValueBytes, metadataTotalBytes]).toEqual([32, 64, 512, 16384]);
  });

  it("allow 0 to 32 pairs", () => {
    expect(accepts()).toBe(true);
    expect(accepts(...numbered(32))).toBe(true);
    expect(faults(...numbered(33))).toEqual([["/metadata", "too_many_pairs"]]);
  });

  it.each(characters)("allow a key of 1 to 64 bytes, of %s", (character) => {
    expect(accepts([character, ""])).toBe(true);
    expect(accepts([textOf(64, character), ""])).toBe(true);
    expect(faults([textOf(65, character), ""])).toEqual([["/metadata", "key_too_long"]]);
    expect(faults(["", "v"])).toEqual([["/metadata/", "key_empty"]]);
  });

  it.each(characters)("allow a value of 0 to 512 bytes, of %s", (character) => {
    expect(accepts(["k", ""])).toBe(true);
    expect(accepts(["k", textOf(512, character)])).toBe(true);
    expect(faults(["k", textOf(513, character)])).toEqual([["/metadata/k", "value_too_long"]]);
  });

  it.each(characters)("allow 16384 bytes of keys and values together, of %s", (character) => {
    // 31 pairs of 3 + 509 bytes make 15872; the last pair has 512 left.
    const most = Array.from({ length: 31 }, (_, index) => [`${index + 100}`, textOf(509, character)] as const);
    expect(accepts(...most, ["last", textOf(508, character)])).toBe(true);
    expect(faults(...most, ["last", textOf(509, character)])).toEqual([["/metadata", "total_too_long"]]);
  });
});

describe("faults", () => {
  it("name every offending pair by an escaped pointer", () => {
    const long = "v".repeat(513);
    expect(faults(["a/b", long], ["c~d", long], ["fine", "x"], ["", long])).toEqual([
      ["/metadata/a~1b", "value_too_long"],
      ["/metadata/c~0d", "value_too_long"],
      ["/metadata/", "key_empty"],
      ["/metadata", "value_too_long"],
    ]);
  });

  it("never hold a value, nor a key that is too long", () => {
    const secret = "s3cr3t";
    const rejection = refusal([
      ["k", secret.repeat(100)],
      [secret.repeat(100), "v"],
    ]);
    expect(rejection.code).toBe("INVALID_METADATA");
    expect(JSON.stringify(rejection)).not.toContain(secret);
  });

  it("refuse text that has no UTF-8", () => {
    expect(faults(["k", "\ud800"], ["\udc00", "v"])).toEqual([
      ["/metadata/k", "value_not_unicode"],
      ["/metadata", "key_not_unicode"],
    ]);
  });
});

describe("the canonical list", () => {
  it("is sorted by the UTF-8 bytes of the key", () => {
    const keys = ["\u{10000}", "\uffff", "b", "a", "é", "B", "aa"];
    const map = new Map(keys.map((key) => [key, key]));
    expect(Either.getOrThrow(validateMetadata(map)).map(([key]) => key)).toEqual([
      "B",
      "a",
      "aa",
      "b",
      "é",
      "\uffff",
      "\u{10000}",
    ]);
  });

  it("is the same whatever order the pairs came in", () => {
    const pairs = fc.uniqueArray(fc.tuple(fc.string({ unit: "binary", minLength: 1, maxLength: 8 }), fc.string()), {
      maxLength: 20,
      selector: ([key]) => key,
    });
    fc.assert(
      fc.property(pairs, (list) => {
        const forward = validateMetadata(new Map(list));
        expect(validateMetadata(new Map(list.toReversed()))).toEqual(forward);
        expect(new Map(Either.getOrThrow(forward))).toEqual(new Map(list));
      }),
    );
  });
});
