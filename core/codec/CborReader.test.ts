/** The two readers against each other: the quick one takes what the talkative one takes, and the same from it. */
import { encode as encodeReference, rfc8949EncodeOptions } from "cborg";
import { Either } from "effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decode, decodeAtOnce, decodeSlowly } from "./CborReader.ts";
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

/** What may have happened to bytes on their way. */
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

/** Holds both readers to one verdict about the bytes, and says what it is. */
const verdict = <A>(codec: Codec<A>, encoded: Uint8Array): Either.Either<A, string> => {
  const slowly = decodeSlowly(codec, encoded);
  const atOnce = decodeAtOnce(codec, encoded);
  expect(atOnce?.value).toEqual(Either.isRight(slowly) ? slowly.right : undefined);
  expect(atOnce === undefined).toBe(Either.isLeft(slowly));
  expect(decode(codec, encoded)).toEqual(slowly);
  return slowly;
};

describe("reading at once", () => {
  it("takes every encoding", () => {
    fc.assert(
      fc.property(samples, (value) => {
        expect(verdict(sample, encode(sample, value))).toEqual(Either.right(value));
      }),
    );
  });

  it("refuses exactly the damaged bytes that are refused at leisure", () => {
    let refused = 0;
    fc.assert(
      fc.property(samples, damages, (value, each) => {
        refused += Either.isLeft(verdict(sample, damaged(encode(sample, value), each))) ? 1 : 0;
      }),
      { numRuns: 2000 },
    );
    expect(refused).toBeGreaterThan(0);
  });

  it("has the same opinion of any well-formed CBOR under any codec", () => {
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

  it("goes by the same bounds", () => {
    const ofBytes = (hex: string) => Uint8Array.from(Buffer.from(hex, "hex"));
    // One more than the largest exact integer, and the largest itself.
    expect(verdict(uint, ofBytes("1b0020000000000000"))).toEqual(
      Either.left("not well-formed CBOR of the kinds used here"),
    );
    expect(verdict(uint, ofBytes("1b001fffffffffffff"))).toEqual(Either.right(Number.MAX_SAFE_INTEGER));
    expect(verdict(uint, ofBytes("1bffffffffffffffff"))._tag).toBe("Left");
    // Lengths that go beyond the bytes.
    for (const each of ["", "18", "5b001fffffffffffff", "7a00000001", "9affffffff", "61"])
      expect(verdict(union({ A: record({ n: text(9) }) }), ofBytes(each))._tag).toBe("Left");
    // 262,144 items with the list itself are taken, and not one more.
    const zeros = (count: number): Uint8Array => {
      const encoded = new Uint8Array(5 + count);
      encoded.set([0x9a, 0, count >> 16, (count >> 8) & 255, count & 255]);
      return encoded;
    };
    expect(verdict(list(uint, 999_999), zeros(262_143))._tag).toBe("Right");
    expect(verdict(list(uint, 999_999), zeros(262_144))).toEqual(Either.left("more than 262144 items"));
  });

  it("hands out bytes of its own", () => {
    const encoded = Buffer.from("4101", "hex");
    const read = verdict(bytes(1), encoded);
    encoded.fill(9);
    expect(read).toEqual(Either.right(Uint8Array.of(1)));
  });
});
