import { encode as encodeReference, rfc8949EncodeOptions } from "cborg";
import { Either } from "effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decode } from "./CborReader.ts";
import { encode } from "./CborWriter.ts";
import {
  bool,
  bytes,
  digest,
  EncodeFault,
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
  words: text(128),
  raw: bytes(600),
  id: digest,
  flag: bool,
  maybe: nullable(uint),
  many: list(pair(uint, text(8)), 40),
  colour: oneOf(["red", "green"]),
  shape: union({ Circle: record({ radius: uint }), Point: record({}) }),
});
type Sample = TypeOf<typeof sample>;

const hex = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((b) => Buffer.from(b).toString("hex"));

const samples: fc.Arbitrary<Sample> = fc.record({
  number: fc.maxSafeNat(),
  words: fc
    .tuple(fc.constantFrom("", "\uFEFF", "\uFEFF\uFEFF"), fc.string({ unit: "grapheme", maxLength: 8 }))
    .map((parts) => parts.join("")),
  raw: fc.uint8Array({ maxLength: 600 }),
  id: hex(32) as fc.Arbitrary<Sample["id"]>,
  flag: fc.boolean(),
  maybe: fc.option(fc.maxSafeNat(), { nil: undefined }),
  many: fc.array(fc.tuple(fc.nat(), fc.string({ maxLength: 8, unit: "binary-ascii" })), { maxLength: 40 }),
  colour: fc.constantFrom("red", "green"),
  shape: fc.oneof(
    fc.record({ _tag: fc.constant("Circle" as const), radius: fc.nat() }),
    fc.record({ _tag: fc.constant("Point" as const) }),
  ),
});

/** The same value as plain maps and arrays, for the reference encoder. */
const asReference = (value: Sample): Map<number, unknown> =>
  new Map<number, unknown>([
    [0, value.number],
    [1, value.words],
    [2, value.raw],
    [3, new Uint8Array(Buffer.from(value.id, "hex"))],
    [4, value.flag],
    [5, value.maybe ?? null],
    [6, value.many.map((each) => [...each])],
    [7, value.colour === "red" ? 0 : 1],
    [8, value.shape._tag === "Circle" ? [0, new Map([[0, value.shape.radius]])] : [1, new Map()]],
  ]);

describe("deterministic CBOR", () => {
  it("encodes exactly as the reference encoder does under RFC 8949 4.2.1", () => {
    fc.assert(
      fc.property(samples, (value) => {
        expect(Buffer.from(encode(sample, value)).toString("hex")).toBe(
          Buffer.from(encodeReference(asReference(value), rfc8949EncodeOptions)).toString("hex"),
        );
      }),
    );
  });

  it("never writes again into bytes that it has handed out", () => {
    const any = bytes(10_000);
    const values = Array.from({ length: 300 }, (_, index) => new Uint8Array((index * 37) % 3000).fill(index));
    const encodings = values.map((value) => encode(any, value));
    for (const [index, encoding] of encodings.entries())
      expect(decode(any, encoding)).toEqual(Either.right(values[index]));
  });

  it("grows with what it writes, and keeps what it has written", () => {
    const parts = list(bytes(1_100_000), 30);
    // A buffer over a MiB is given back after use, so that all begin small.
    for (const lengths of [[1_100_000], [4000, 200, 9], [...Array.from({ length: 20 }, () => 999), 50_000, 3]]) {
      const value = lengths.map((length, index) => new Uint8Array(length).fill(index + 1));
      const read = Either.getOrThrow(decode(parts, encode(parts, value)));
      expect(read.map(({ length }) => length)).toEqual(lengths);
      expect(Buffer.concat([...read]).equals(Buffer.concat(value))).toBe(true);
    }
  });

  it("reads back what it wrote", () => {
    fc.assert(
      fc.property(samples, (value) => {
        expect(decode(sample, encode(sample, value))).toEqual(Either.right(value));
      }),
    );
  });

  it.each(["\uFEFF", "\uFEFFx", `\uFEFF${"x".repeat(40)}`, "x\uFEFF"])(
    "keeps a byte order mark in text: %j",
    (words) => {
      expect(decode(text(64), encode(text(64), words))).toEqual(Either.right(words));
    },
  );

  it("refuses every truncation and every trailing byte", () => {
    fc.assert(
      fc.property(samples, fc.nat(), fc.nat(255), (value, cut, extra) => {
        const whole = encode(sample, value);
        expect(Either.isLeft(decode(sample, whole.subarray(0, cut % whole.length)))).toBe(true);
        expect(Either.isLeft(decode(sample, Uint8Array.of(...whole, extra)))).toBe(true);
      }),
    );
  });

  const refused: ReadonlyArray<readonly [string, string]> = [
    ["a longer integer than needed", "1800"],
    ["an indefinite list", "9f00ff"],
    ["a tag", "c100"],
    ["a float", "f93c00"],
    ["a negative integer", "20"],
    ["undefined", "f7"],
  ];
  for (const [name, encoded] of refused)
    it(`refuses ${name}`, () => {
      expect(Either.isLeft(decode(uint, new Uint8Array(Buffer.from(encoded, "hex"))))).toBe(true);
    });

  it("refuses unsorted, duplicate and foreign record keys and names the missing field", () => {
    const two = record({ first: uint, second: uint });
    const read = (encoded: string) => decode(two, new Uint8Array(Buffer.from(encoded, "hex")));
    expect(read("a200010102")).toEqual(Either.right({ first: 1, second: 2 }));
    expect(read("a201020001")).toEqual(Either.left("first: expected the field to be present"));
    expect(Either.isLeft(read("a200010002"))).toBe(true);
    expect(read("a200010202")).toEqual(Either.left("second: expected the field to be present"));
    expect(read("a100 01".replace(" ", ""))).toEqual(Either.left("value: expected a record of 2 fields"));
  });

  it("never throws, whatever well-formed CBOR arrives", () => {
    const anything = fc.letrec((tie) => ({
      item: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>("length", "map", "constructor", "__proto__", null, true, 0, 1, 2, new Uint8Array(32)),
        fc.array(tie("item"), { maxLength: 3 }),
        fc.array(fc.tuple(fc.nat(9), tie("item")), { maxLength: 9 }).map((entries) => new Map(entries)),
      ),
    })).item;
    fc.assert(
      fc.property(anything, (item) => {
        const encoded = encodeReference(item, rfc8949EncodeOptions);
        for (const codec of [sample, union({ A: record({ n: uint }) }), list(uint, 2), digest, nullable(text(2))])
          expect(Either.isEither(decode(codec as typeof sample, encoded))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("writes nothing that it would not read", () => {
    const beyond: ReadonlyArray<() => unknown> = [
      () => encode(uint, -1),
      () => encode(uint, 2 ** 53),
      () => encode(uint, 0.5),
      () => encode(text(3), "éé"),
      () => encode(text(3), "abcd"),
      () => encode(bytes(1), new Uint8Array(2)),
      () => encode(list(uint, 1), [1, 2]),
      () => encode(oneOf(["red"]), "blue" as "red"),
      () => encode(union({ A: record({}) }), { _tag: "B" } as unknown as { readonly _tag: "A" }),
    ];
    for (const write of beyond) expect(write).toThrow(EncodeFault);
    expect(encode(uint, 1)).toEqual(Uint8Array.of(1));
  });

  it("writes as many items as it reads, keys and containers among them, and not one more", () => {
    const zeros = (count: number) => Array.from({ length: count }, () => 0);
    const pairs = list(record({ n: uint, text: text(4) }), 999_999);
    const numbers = list(uint, 999_999);
    const full = encode(numbers, zeros(524_287));
    expect(Either.isRight(decode(numbers, full))).toBe(true);
    expect(() => encode(numbers, zeros(524_288))).toThrow("a value to be written has more than 524288 items");
    // A text that is not ASCII is written anew, and counts once; a list of five counts its items and itself.
    const each = { n: 0, text: "é" };
    const most = Array.from({ length: 104_857 }, () => each);
    expect(Either.isRight(decode(pairs, encode(pairs, most)))).toBe(true);
    expect(() => encode(pairs, [...most, each])).toThrow(EncodeFault);
    expect(encode(numbers, [1])).toEqual(Uint8Array.of(0x81, 1));
  });

  it("bounds the number of items before it decodes", () => {
    const many = new Uint8Array(524_400);
    many.set([0x9a, 0, 8, 0, 0x33]);
    expect(decode(list(uint, 999_999), many)).toEqual(Either.left("[524287]: found more than 524288 items"));
  });

  it("refuses text that is not UTF-8", () => {
    expect(Either.isLeft(decode(text(4), Uint8Array.of(0x62, 0xc0, 0x80)))).toBe(true);
    expect(Either.isLeft(decode(text(4), Uint8Array.of(0x63, 0xed, 0xa0, 0x80)))).toBe(true);
  });

  it("counts text limits in UTF-8 bytes", () => {
    expect(Either.isRight(decode(text(4), encode(text(99), "éé")))).toBe(true);
    expect(Either.isLeft(decode(text(3), encode(text(99), "éé")))).toBe(true);
  });

  it("goes no deeper than a codec does", () => {
    const nested = new Uint8Array(1_000_001).fill(0x81, 0, 1_000_000);
    expect(decode(uint, nested)).toEqual(Either.left("value: expected an unsigned integer"));
    expect(decode(list(list(uint, 2), 2), nested)).toEqual(Either.left("[0][0]: expected an unsigned integer"));
  });
});
