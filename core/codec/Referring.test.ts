/** Values that name what they repeat by its number: messages are. */
import { Either } from "effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Digest, Signature } from "../base/Digest.ts";
import { decode } from "./CborReader.ts";
import { encode } from "./CborWriter.ts";
import { digest, list, record, referring, signature, uint } from "./Codec.ts";

const sheet = record({ of: list(record({ about: digest, at: uint, signature }), 100) });
const codec = referring(sheet);

const about = (byte: number): Digest => byte.toString(16).padStart(2, "0").repeat(32) as Digest;
const signed = (byte: number): Signature => byte.toString(16).padStart(2, "0").repeat(64) as Signature;
const item = (which: number, by: number) => ({ about: about(which), at: which, signature: signed(by) });
const items = fc.array(fc.tuple(fc.nat(9), fc.nat(3)), { maxLength: 20 });
const valueOf = (all: ReadonlyArray<readonly [number, number]>) => ({ of: all.map(([which, by]) => item(which, by)) });

/** The fault of bytes that are no such value. */
const fault = (bytes: Uint8Array): string => Either.getOrThrow(Either.flip(decode(codec, bytes)));

/** The bytes of a list of two items, whose fields are as given: `digest`, number, `signature`. */
const bytesOf = (...fields: ReadonlyArray<ReadonlyArray<number>>): Uint8Array => {
  const two = [fields.slice(0, 3), fields.slice(3)].map((three) => [
    0xa3,
    ...three.flatMap((field, key) => [key, ...field]),
  ]);
  return Uint8Array.from([0xa1, 0, 0x82, ...two.flat()]);
};
const full = (length: number, byte: number): ReadonlyArray<number> => [0x58, length, ...Array(length).fill(byte)];

describe("a value that refers to what it repeats", () => {
  it("is read as it was written, and never longer than in full", () => {
    fc.assert(
      fc.property(items, (all) => {
        const value = valueOf(all);
        const bytes = encode(codec, value);
        expect(Either.getOrThrow(decode(codec, bytes))).toEqual(value);
        expect(bytes.length).toBeLessThanOrEqual(encode(sheet, value).length);
        // Nothing of one value is in the next.
        expect(encode(codec, value)).toEqual(bytes);
      }),
      { numRuns: 100 },
    );
  });

  it("has digests and signatures once, in the order in which they come, and then their numbers", () => {
    const [first, by, second] = [full(32, 1), full(64, 7), full(32, 2)];
    expect(encode(codec, { of: [item(1, 7), { ...item(2, 7), at: 1 }] })).toEqual(
      bytesOf(first, [1], by, second, [1], [1]),
    );
    expect(encode(codec, { of: [item(1, 7), item(1, 7)] })).toEqual(bytesOf(first, [1], by, [0], [1], [1]));
  });

  it.each<readonly [string, ReadonlyArray<ReadonlyArray<number>>, string]>([
    [
      "in full what came before",
      [full(32, 1), [1], full(64, 7), full(32, 1), [1], [1]],
      "of[1].about: found bytes in full that came before",
    ],
    [
      "a number that nothing has yet",
      [full(32, 1), [1], full(64, 7), [2], [1], [1]],
      "of[1].about: expected 32 bytes, or the number of such that came before",
    ],
    [
      "the number of bytes of another length",
      [full(32, 1), [1], full(64, 7), [1], [1], [1]],
      "of[1].about: expected 32 bytes, or the number of such that came before",
    ],
  ])("is refused with %s", (_what, fields, why) => {
    expect(fault(bytesOf(...fields))).toBe(why);
  });

  it("is not taken for one that has all in full, nor the other way round", () => {
    const value = { of: [item(1, 7), item(1, 7)] };
    expect(Either.isLeft(decode(sheet, encode(codec, value)))).toBe(true);
    expect(Either.isLeft(decode(codec, encode(sheet, value)))).toBe(true);
  });

  it("leaves nothing behind where it cannot be written", () => {
    expect(() => encode(codec, { of: [item(1, 7), { ...item(1, 7), at: -1 }] })).toThrow("unsigned");
    const value = { of: [item(1, 7), item(1, 7)] };
    expect(Either.getOrThrow(decode(sheet, encode(sheet, value)))).toEqual(value);
  });
});
