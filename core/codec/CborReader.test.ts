/** The reader against a reference: cborg, and the one encoding of the value that it reads. */
import { decode as decodeReference, encode as encodeReference, rfc8949EncodeOptions } from "cborg";
import { Either } from "effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decode } from "./CborReader.ts";
import { encode } from "./CborWriter.ts";
import {
  bool,
  bytes,
  type Codec,
  digest,
  list,
  nullable,
  oneOf,
  pair,
  record,
  text,
  type TypeOf,
  uint,
  union,
} from "./Codec.ts";

const sample = record({
  number: uint,
  words: text(90),
  raw: bytes(300),
  id: digest,
  flag: bool,
  maybe: nullable(uint),
  many: list(pair(uint, text(8)), 30),
  colour: oneOf(["red", "green"]),
  shape: union({ Circle: record({ radius: nullable(pair(uint, bool)) }), Point: record({}) }),
});
type Sample = TypeOf<typeof sample>;

const uints = fc.oneof(
  fc.nat(30),
  fc.constantFrom(0xff, 0x100, 0xffff, 0x10000, 2 ** 32 - 1, 2 ** 32),
  fc.maxSafeNat(),
);

const samples: fc.Arbitrary<Sample> = fc.record({
  number: uints,
  words: fc.oneof(fc.string({ unit: "binary-ascii", maxLength: 90 }), fc.string({ unit: "grapheme", maxLength: 4 })),
  raw: fc.uint8Array({ maxLength: 300 }),
  id: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((each) => Buffer.from(each).toString("hex")) as fc.Arbitrary<
    Sample["id"]
  >,
  flag: fc.boolean(),
  maybe: fc.option(uints, { nil: undefined }),
  many: fc.array(fc.tuple(uints, fc.string({ maxLength: 8, unit: "binary-ascii" })), { maxLength: 30 }),
  colour: fc.constantFrom("red", "green"),
  shape: fc.oneof(
    fc.record({
      _tag: fc.constant("Circle" as const),
      radius: fc.option(fc.tuple(uints, fc.boolean()), { nil: undefined }),
    }),
    fc.record({ _tag: fc.constant("Point" as const) }),
  ),
});

/** Possible damage to bytes on their way. */
const damages = fc.array(
  fc.record({
    at: fc.nat(),
    taken: fc.nat(2),
    put: fc.oneof(
      fc.uint8Array({ maxLength: 2 }),
      // Heads in every width and kind, and the beginnings of text that is no UTF-8.
      fc.constantFrom([0x18, 5], [0x19, 0, 5], [0x1a, 0, 0, 0, 5], [0x1b, 0, 0, 0, 0, 0, 0, 0, 5], [0xf9, 0, 0]),
      fc.constantFrom([0x58, 1, 0], [0x78, 1, 0x61], [0x98, 2], [0xb8, 2], [0x82], [0xa2], [0x9f], [0xff], [0xc1]),
      fc.constantFrom([0xf4], [0xf5], [0xf6], [0xf7], [0x20], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xef, 0xbb, 0xbf]),
      fc.constant([0x1b, 0, 0x20, 0, 0, 0, 0, 0, 0]),
    ),
  }),
  { minLength: 1, maxLength: 2 },
);

type Damages = typeof damages extends fc.Arbitrary<infer D> ? D : never;

const damaged = (whole: Uint8Array, each: Damages): Uint8Array => {
  const changed = [...whole];
  for (const { at, taken, put } of each) changed.splice(at % (whole.length + 1), taken, ...put);
  return Uint8Array.from(changed);
};

/** The reader's result, checked: it may accept only well-formed bytes that are the encoding of their value. */
const verdict = <A>(codec: Codec<A>, encoded: Uint8Array): Either.Either<A, string> => {
  const read = decode(codec, encoded);
  if (Either.isRight(read)) {
    expect(encode(codec, read.right)).toEqual(Uint8Array.from(encoded));
    expect(() => decodeReference(encoded, { strict: true, useMaps: true, rejectDuplicateMapKeys: true })).not.toThrow();
  }
  return read;
};

const ofHex = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"));
const two = record({ first: uint, second: uint });
const shapes = union({ A: record({ n: uint, many: list(uint, 2) }), B: record({}) });
/** For any type of value. */
type AnyCodec = Pick<Codec<never>, "write"> & Pick<Codec<unknown>, "read">;
const x32 = "78".repeat(32);

describe("every kind of value", () => {
  it.each<[string, AnyCodec, string, unknown]>([
    ["0", uint, "00", 0],
    ["23", uint, "17", 23],
    ["24", uint, "1818", 24],
    ["255", uint, "18ff", 255],
    ["256", uint, "190100", 256],
    ["65535", uint, "19ffff", 65_535],
    ["65536", uint, "1a00010000", 65_536],
    ["2 ** 32 - 1", uint, "1affffffff", 2 ** 32 - 1],
    ["2 ** 32", uint, "1b0000000100000000", 2 ** 32],
    ["2^53 - 1", uint, "1b001fffffffffffff", Number.MAX_SAFE_INTEGER],
    ["no text", text(3), "60", ""],
    ["text up to its limit", text(3), "63616263", "abc"],
    ["text of two bytes for a character", text(3), "63c3a961", "éa"],
    ["text of three bytes for a character", text(3), "63e282ac", "€"],
    ["text of 64 bytes", text(65), `7840${"61".repeat(64)}`, "a".repeat(64)],
    ["text of 65 bytes", text(65), `7841${"61".repeat(65)}`, "a".repeat(65)],
    ["no bytes", bytes(3), "40", new Uint8Array(0)],
    ["bytes up to their limit", bytes(3), "43010203", Uint8Array.of(1, 2, 3)],
    ["a digest", digest, `5820${x32}`, x32],
    ["false", bool, "f4", false],
    ["true", bool, "f5", true],
    ["nothing", nullable(uint), "f6", undefined],
    ["something", nullable(uint), "00", 0],
    ["an empty list", list(uint, 2), "80", []],
    ["a list up to its limit", list(uint, 2), "820102", [1, 2]],
    ["a list of lists", list(list(uint, 2), 2), "8282010280", [[1, 2], []]],
    ["a list of 24", list(uint, 24), `9818${"00".repeat(24)}`, Array.from({ length: 24 }, () => 0)],
    ["a pair", pair(uint, bool), "8201f5", [1, true]],
    ["an empty record", record({}), "a0", {}],
    ["a record", two, "a200010102", { first: 1, second: 2 }],
    ["a variant with a field", shapes, "8200a2000501820607", { _tag: "A", n: 5, many: [6, 7] }],
    ["an empty variant", shapes, "8201a0", { _tag: "B" }],
    [
      "what follows a list in a record",
      record({ many: list(nullable(uint), 2), more: list(bool, 1), last: text(1) }),
      "a3008200f60181f5026161",
      { many: [0, undefined], more: [true], last: "a" },
    ],
    ["bytes that begin like a mark", bytes(3), "43efbbbf", Uint8Array.of(0xef, 0xbb, 0xbf)],
    ["a mark beside its like", list(text(4), 2), "8263efbbbf63efbfbd", ["\uFEFF", "\uFFFD"]],
    ["a mark that does not come first", text(4), "6461efbbbf", "a\uFEFF"],
  ])("is read: %s", (_name, codec, hex, value) => {
    expect(verdict(codec as Codec<unknown>, ofHex(hex))).toEqual(Either.right(value));
  });

  it("may be one of some words", () => {
    const words = oneOf(["red", "green"]);
    expect(verdict(words, ofHex("00"))).toEqual(Either.right("red"));
    expect(verdict(words, ofHex("01"))).toEqual(Either.right("green"));
    expect(encode(words, "green")).toEqual(ofHex("01"));
    const variants = union({ A: record({}), B: record({}) });
    expect(encode(variants, { _tag: "B" as const })).toEqual(ofHex("8201a0"));
  });
});

const END = "value: found the end in the middle of an item";
const LONG_HEAD = "value: found a number that is not in its shortest form";
const NO_LENGTH = "value: found a length that is indefinite or reserved";

describe("bytes are refused", () => {
  it.each<[string, AnyCodec, string, string]>([
    ["nothing at all", uint, "", END],
    ["nothing at all", bool, "", END],
    ["a head without its argument", uint, "18", END],
    ["an argument that is cut off", uint, "19ff", END],
    ["an argument that is cut off", uint, "1affffff", END],
    ["an argument that is cut off", uint, "1b00ffffffffffff", END],
    ["an argument of no width", uint, "1c00", NO_LENGTH],
    ["an argument of no width", uint, "1f", NO_LENGTH],
    ["something behind the item", uint, "0000", "value: found something after the end of the item"],
    ["an integer beyond 2^53 - 1", uint, "1b0020000000000000", "value: found a number beyond 2^53"],
    ...["1800", "1817", "190018", "1900ff", "1a0000ffff", "1b00000000ffffffff"].map(
      (hex): [string, AnyCodec, string, string] => ["a longer form than needed", uint, hex, LONG_HEAD],
    ),
    ["a whole number as a float", uint, "f93c00", "value: expected an unsigned integer"],
    ...["20", "40", "6130", "80", "a0", "f4", "f6", "fb3ff8000000000000"].map(
      (hex): [string, AnyCodec, string, string] => ["no number", uint, hex, "value: expected an unsigned integer"],
    ),
    ["text over its limit", text(3), "6461626364", "value: expected text of at most 3 bytes"],
    ["text whose bytes are over its limit", text(3), "64c3a9c3a9", "value: expected text of at most 3 bytes"],
    ["bytes for text", text(3), "43616263", "value: expected text of at most 3 bytes"],
    ["a number for text", text(3), "00", "value: expected text of at most 3 bytes"],
    ["text that is cut off", text(3), "6361", "value: found a string that is longer than the bytes"],
    ["text with a longer head than needed", text(3), "7803616263", LONG_HEAD],
    ["text that is not UTF-8", text(3), "61ff", "value: found text that is not UTF-8"],
    ["bytes over their limit", bytes(3), "4401020304", "value: expected at most 3 bytes"],
    ["text for bytes", bytes(3), "63616263", "value: expected at most 3 bytes"],
    ["bytes that are cut off", bytes(3), "4301", "value: found a string that is longer than the bytes"],
    ["a digest that is short", digest, `581f${x32.slice(2)}`, "value: expected 32 bytes"],
    ["a digest that is long", digest, `5821${x32}78`, "value: expected 32 bytes"],
    ["text for a digest", digest, `7820${x32}`, "value: expected 32 bytes"],
    ["a number for a boolean", bool, "01", "value: expected a boolean"],
    ["nothing for a boolean", bool, "f6", "value: expected a boolean"],
    ["undefined", bool, "f7", "value: expected a boolean"],
    ["undefined for nothing", nullable(uint), "f7", "value: expected an unsigned integer"],
    ["neither nothing nor something", nullable(uint), "f5", "value: expected an unsigned integer"],
    ["a list over its limit", list(uint, 2), "83010203", "value: expected a list of at most 2 items"],
    ["a record for a list", list(uint, 2), "a0", "value: expected a list of at most 2 items"],
    ["a number for a list", list(uint, 2), "00", "value: expected a list of at most 2 items"],
    ["a list that is cut off", list(uint, 2), "8201", "[1]: found the end in the middle of an item"],
    ["a list without an end", list(uint, 2), "9f0102ff", NO_LENGTH],
    ["a list with a longer head than needed", list(uint, 2), "980101", LONG_HEAD],
    ["a wrong item", list(uint, 2), "820140", "[1]: expected an unsigned integer"],
    ["a wrong item of an inner list", list(list(uint, 2), 2), "8280820140", "[1][1]: expected an unsigned integer"],
    ["a wrong field of an item", list(two, 2), "81a200010140", "[0].second: expected an unsigned integer"],
    ["a list of one for a pair", pair(uint, bool), "8101", "value: expected a pair"],
    ["a list of three for a pair", pair(uint, bool), "8301f5f5", "value: expected a pair"],
    ["a record for a pair", pair(uint, bool), "a10001", "value: expected a pair"],
    ["text for a pair", pair(uint, bool), "626161", "value: expected a pair"],
    ["a wrong first of a pair", pair(uint, bool), "8240f5", "[0]: expected an unsigned integer"],
    ["a wrong second of a pair", pair(uint, bool), "820100", "[1]: expected a boolean"],
    ["a record with a field too few", two, "a10001", "value: expected a record of 2 fields"],
    ["a record with a field too many", two, "a3000101020203", "value: expected a record of 2 fields"],
    ["a list for a record", two, "820102", "value: expected a record of 2 fields"],
    ["another field", two, "a200010202", "second: expected the field to be present"],
    ["fields out of order", two, "a201020001", "first: expected the field to be present"],
    ["a field twice", two, "a200010001", "second: expected the field to be present"],
    ["a wrong field", two, "a200010140", "second: expected an unsigned integer"],
    ["no index", oneOf(["red", "green"]), "6130", "value: expected an index below 2"],
    ["an index below 0", oneOf(["red", "green"]), "20", "value: expected an index below 2"],
    ["an index that is too high", oneOf(["red", "green"]), "02", "value: expected an index below 2"],
    ["no pair for a variant", shapes, "8101", "value: expected a pair"],
    ["no index of a variant", shapes, "82f5a0", "value: expected a pair that starts with an index below 2"],
    ["a variant that is not there", shapes, "8202a0", "value: expected a pair that starts with an index below 2"],
    ["a variant without its fields", shapes, "8200a0", "A: expected a record of 2 fields"],
    ["a wrong field of a variant", shapes, "8200a200400180", "A.n: expected an unsigned integer"],
    ["a wrong item in a variant", shapes, "8200a20000018140", "A.many[0]: expected an unsigned integer"],
  ])("for %s (%#)", (_name, codec, hex, why) => {
    expect(verdict(codec as Codec<unknown>, ofHex(hex))).toEqual(Either.left(why));
  });

  it("where a mark would begin in a text and end behind it, which leaves the empty text as it was", () => {
    for (const hex of ["8260efbbbf", "8261efbbbf00", "8262efbbbf"])
      expect(verdict(list(text(9), 2), ofHex(hex))._tag).toBe("Left");
    expect(verdict(text(9), ofHex("60"))).toEqual(Either.right(""));
  });
});

describe("a fault of the program", () => {
  it("is not taken for one of the bytes", () => {
    const broken: Codec<never> = {
      write: () => undefined,
      read: () => {
        throw new TypeError("broken");
      },
    };
    expect(() => decode(broken, ofHex("00"))).toThrow("broken");
  });
});

describe("the reader", () => {
  it("takes every encoding", () => {
    fc.assert(
      fc.property(samples, (value) => {
        expect(verdict(sample, encode(sample, value))).toEqual(Either.right(value));
      }),
    );
  });

  it("takes no damaged bytes that are not what would be written", () => {
    let refused = 0;
    fc.assert(
      fc.property(samples, damages, (value, each) => {
        refused += Either.isLeft(verdict(sample, damaged(encode(sample, value), each))) ? 1 : 0;
      }),
      { numRuns: 2000 },
    );
    expect(refused).toBeGreaterThan(0);
  });

  it("takes of any well-formed CBOR what would be written, under any codec", () => {
    const anything = fc.letrec((tie) => ({
      item: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<unknown>(null, true, false, 0, 1, 23, 24, 255, 256, 0.5, "a", "é", new Uint8Array(32)),
        fc.array(tie("item"), { maxLength: 3 }),
        fc.array(tie("item"), { maxLength: 2 }).map((values) => new Map(values.map((each, key) => [key, each]))),
      ),
    })).item;
    const codecs = [
      uint,
      bool,
      digest,
      text(1),
      bytes(32),
      oneOf(["red", "green"]),
      list(uint, 2),
      list(nullable(bool), 2),
      pair(uint, uint),
      nullable(digest),
      record({ n: uint }),
      record({ n: text(2), m: nullable(bool) }),
      record({}),
      union({ A: record({ n: uint }), B: record({}) }),
    ].map((codec) => codec as Codec<unknown>);
    fc.assert(
      fc.property(anything, (item) => {
        const encoded = encodeReference(item, rfc8949EncodeOptions);
        for (const codec of codecs) verdict(codec, encoded);
      }),
      { numRuns: 1000 },
    );
  });

  it("goes by its bounds", () => {
    // One more than the largest exact integer, and the largest itself.
    expect(verdict(uint, ofHex("1b0020000000000000"))).toEqual(Either.left("value: found a number beyond 2^53"));
    expect(verdict(uint, ofHex("1b001fffffffffffff"))).toEqual(Either.right(Number.MAX_SAFE_INTEGER));
    expect(verdict(uint, ofHex("1bffffffffffffffff"))._tag).toBe("Left");
    // Lengths beyond the end of the bytes.
    for (const each of ["", "18", "5b001fffffffffffff", "7a00000001", "9affffffff", "61"])
      expect(verdict(union({ A: record({ n: text(9) }) }), ofHex(each))._tag).toBe("Left");
    // 524,288 items, the list itself included, are accepted, and not one more.
    const zeros = (count: number): Uint8Array => {
      const encoded = new Uint8Array(5 + count);
      encoded.set([0x9a, 0, count >> 16, (count >> 8) & 255, count & 255]);
      return encoded;
    };
    expect(verdict(list(uint, 999_999), zeros(524_287))._tag).toBe("Right");
    expect(verdict(list(uint, 999_999), zeros(524_288))).toEqual(Either.left("[524287]: found more than 524288 items"));
  });

  it("hands out bytes of its own", () => {
    const encoded = Buffer.from("4101", "hex");
    const read = verdict(bytes(1), encoded);
    encoded.fill(9);
    expect(read).toEqual(Either.right(Uint8Array.of(1)));
  });
});
