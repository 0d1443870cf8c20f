import { describe, expect, it } from "vitest";
import {
  bits,
  boolean,
  der,
  integer,
  octets,
  oid,
  sequence,
  set,
  tagged,
  time,
  utf8,
} from "../../properties/webauthn/DerWriter.ts";
import { refusalOf } from "../../properties/webauthn/RefusalOf.ts";
import {
  bitsOf,
  derBytes,
  integerOctetsOf,
  octetsOf,
  oidOf,
  readDer,
  sequenceOf,
  setOf,
  smallIntegerOf,
  taggedOf,
  textOf,
  timeOf,
  trueOf,
  ValueBudget,
} from "./Der.ts";

const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(" ", ""), "hex"));
const readHex = (hex: string) => readDer(bytesOf(hex), "the value");

const nested = (depth: number): Uint8Array =>
  Array.from({ length: depth }).reduce<Uint8Array>((inner) => sequence(inner), sequence());

const items = (count: number): Uint8Array => sequence(...Array.from({ length: count }, () => bytesOf("0500")));

describe("a value in DER", () => {
  const end = "the end in the middle of a value";
  const tooLong = "a value that is longer than what holds it";
  const longForm = "a length that is not in its shortest form";
  const length = "a length that is indefinite or too large";
  const tag = "a tag that is not in its shortest form";
  const kind = "a string in pieces, or a sequence that is none";
  const truth = "a boolean that is neither 00 nor ff";
  const number = "an integer that is not in its shortest form";
  const identifier = "an object identifier that is not in its shortest form";
  const leftOver = "a bit string with bits left over";

  it.each([
    ["no byte", "", end],
    ["a tag alone", "04", end],
    ["a length that ends early", "0482 01", end],
    ["a value in another that ends before its length", "3001 04 00", end],
    ["a value that is longer than the bytes", "0402 01", tooLong],
    ["a value that is longer than the one that holds it", "3003 0402 01 01", tooLong],
    ["a second value", "0500 0500", "something after the end"],
    ["an indefinite length", "3080 0000", length],
    ["a length of four octets", "0484 00000001 01", length],
    ["127 in two octets", `0481 7f ${"00".repeat(127)}`, longForm],
    ["255 in three octets", `0482 00ff ${"00".repeat(255)}`, longForm],
    ["65,535 in four octets", `0483 00ffff ${"00".repeat(65_535)}`, longForm],
    ["a long tag for 30", "bf1e 00", tag],
    ["a long tag with a leading zero", "bf80 1f 00", tag],
    ["a tag number of four octets", "bf81 8080 00 00", "a tag number that is too large"],
    ["a tag that ends early", "bf81", end],
    ["a string in pieces", "2403 0401 00", kind],
    ["a sequence that holds nothing but bytes", "1000", kind],
    ["a set that holds nothing but bytes", "1100", kind],
    ["a boolean of no octet", "0100", truth],
    ["a boolean of two octets", "0102 ffff", truth],
    ["a boolean of 01", "0101 01", truth],
    ["a boolean of 7f", "0101 7f", truth],
    ["a null that holds something", "0501 00", "a null that is not empty"],
    ["an integer of no octet", "0200", number],
    ["an enumerated value of no octet", "0a00", number],
    ["a positive integer with a zero too many", "0202 007f", number],
    ["a negative integer with ones too many", "0202 ff80", number],
    ["-1 with ones too many", "0202 ffff", number],
    ["an enumerated value with a zero too many", "0a02 0001", number],
    ["bits without their count", "0300", leftOver],
    ["eight unused bits", "0302 08 00", leftOver],
    ["unused bits of nothing", "0301 01", leftOver],
    ["an unused bit that is set", "0302 01 01", leftOver],
    ["seven unused bits of which one is set", "0302 07 40", leftOver],
    ["unused bits in the last octet of two", "0303 02 00 02", leftOver],
    ["an object identifier of no octet", "0600", identifier],
    ["an object identifier that does not end", "0603 55 04 80", identifier],
    ["an object identifier with a zero before its first number", "0603 80 55 04", identifier],
    ["an object identifier with a zero before a later number", "0604 55 04 80 03", identifier],
    ["an end of contents", "3002 0000", "an end of contents"],
  ])("is not %s", (_, hex, fault) => {
    expect(refusalOf(() => readHex(hex))).toBe(`certificate: There is ${fault} in the value.`);
  });

  it.each([
    ["a value of nothing", "0400"],
    ["127 octets", `047f ${"00".repeat(127)}`],
    ["128 octets", `0481 80 ${"00".repeat(128)}`],
    ["255 octets", `0481 ff ${"00".repeat(255)}`],
    ["256 octets", `0482 0100 ${"00".repeat(256)}`],
    ["65,536 octets", `0483 010000 ${"00".repeat(65_536)}`],
    ["tag 31", "bf1f 00"],
    ["tag 128", "bf81 00 00"],
    ["a tag number of three octets", "bfff ff7f 00"],
    ["false", "0101 00"],
    ["true", "0101 ff"],
    ["null", "0500"],
    ["127", "0201 7f"],
    ["128", "0202 0080"],
    ["255 in two octets", "0202 00ff"],
    ["-128", "0201 80"],
    ["-129", "0202 ff7f"],
    ["zero", "0201 00"],
    ["no bits", "0301 00"],
    ["eight bits", "0302 00 ff"],
    ["seven bits", "0302 01 fe"],
    ["one bit", "0302 07 80"],
    ["nine bits, the last octet whole before", "0303 07 ff 80"],
    ["a boolean's octets under another class", "8101 01"],
    ["an object identifier with a zero octet inside a number", "0604 55 81 80 03"],
  ])("is %s", (_, hex) => {
    expect(derBytes(readHex(hex))).toEqual(bytesOf(hex));
  });

  it("holds values in one another 24 deep, and no deeper", () => {
    expect(refusalOf(() => readDer(nested(24), "the value"))).toBeUndefined();
    expect(refusalOf(() => readDer(nested(25), "the value"))).toBe(
      "certificate: There is nesting that is too deep in the value.",
    );
  });

  it("holds 256 values with those read before, and no more", () => {
    const tooMany = "certificate: A certificate has more than 256 values, those in its extensions among them.";
    expect(refusalOf(() => readDer(items(255), "the value"))).toBeUndefined();
    expect(refusalOf(() => readDer(items(256), "the value"))).toBe(tooMany);
    const budget = new ValueBudget();
    expect(refusalOf(() => readDer(items(200), "the value", budget))).toBeUndefined();
    expect(refusalOf(() => readDer(items(55), "the value", budget))).toBe(tooMany);
  });

  it.each([
    ["a time without digits", "1801 41"],
    ["half a character of two octets", "1e01 41"],
    ["a universal type that is reserved", "0f00"],
  ])("is nothing that the decoder cannot read: %s", (_, hex) => {
    expect(refusalOf(() => readHex(hex))).toBe("certificate: There is a value that cannot be read in the value.");
  });
});

/** One value of each kind. */
const kinds: ReadonlyArray<readonly [kind: string, bytes: Uint8Array]> = [
  ["sequence", sequence(integer(5))],
  ["set", set(integer(5))],
  ["object identifier", oid("1.2.840.10045.2.1")],
  ["octets", octets(Uint8Array.of(1, 2))],
  ["bits", bits(Uint8Array.of(3, 4))],
  ["text", utf8("text")],
  ["printable text", der(0x13, bytesOf("41 42"))],
  ["boolean", boolean(true)],
  ["integer", integer(5)],
  ["enumerated value", der(0x0a, Uint8Array.of(6))],
  ["time of two digits", time("240102030405Z")],
  ["time of four digits", time("20500102030405Z")],
  ["null", bytesOf("0500")],
  ["tagged value", tagged(3, integer(5))],
];

describe("what is read out of a value", () => {
  it.each<
    readonly [
      string,
      string,
      (value: ReturnType<typeof readDer> | undefined) => unknown,
      ReadonlyArray<readonly [string, unknown]>,
    ]
  >([
    ["a sequence", "sequence", (value) => sequenceOf(value, "it").map(derBytes), [["sequence", [integer(5)]]]],
    ["a set", "set", (value) => setOf(value, "it").map(derBytes), [["set", [integer(5)]]]],
    [
      "an object identifier",
      "object identifier",
      (value) => oidOf(value, "it"),
      [["object identifier", "1.2.840.10045.2.1"]],
    ],
    ["octets", "octet string", (value) => octetsOf(value, "it"), [["octets", Uint8Array.of(1, 2)]]],
    ["bits", "bit string", (value) => bitsOf(value, "it"), [["bits", Uint8Array.of(3, 4)]]],
    [
      "text",
      "text",
      (value) => textOf(value, "it"),
      [
        ["text", "text"],
        ["printable text", "AB"],
      ],
    ],
    ["a boolean", "boolean", (value) => trueOf(value, "it"), [["boolean", true]]],
    ["an integer", "integer", (value) => integerOctetsOf(value, "it"), [["integer", Uint8Array.of(5)]]],
    [
      "a time",
      "time",
      (value) => timeOf(value, "it"),
      [
        ["time of two digits", 1_704_164_645_000],
        ["time of four digits", 2_524_705_445_000],
      ],
    ],
  ])("is %s where it is one, and nothing else", (_, asked, read, taken) => {
    const expected = new Map(taken);
    for (const [kind, bytes] of kinds) {
      const value = readDer(bytes, "the value");
      if (expected.has(kind)) expect(read(value)).toEqual(expected.get(kind));
      else expect([kind, refusalOf(() => read(value))]).toEqual([kind, `certificate: There is no ${asked} as it.`]);
    }
    expect(refusalOf(() => read(undefined))).toBe(`certificate: There is no ${asked} as it.`);
  });

  it.each([
    ["0201 00", 0],
    ["0201 7f", 127],
    ["0202 0080", 128],
    ["0202 0102", 258],
    ["0204 7fffffff", 2 ** 31 - 1],
  ])("is %s as the small integer %i", (hex, number) => {
    expect(smallIntegerOf(readHex(hex), "it")).toBe(number);
  });

  it.each(["0205 0080000000", "0201 80", "0204 80000000", "0202 ff00"])("is %s as no small integer", (hex) => {
    expect(refusalOf(() => smallIntegerOf(readHex(hex), "it"))).toBe("certificate: There is no small integer as it.");
  });

  it("is no small integer where it is none at all", () => {
    expect(refusalOf(() => smallIntegerOf(readHex("0a01 05"), "it"))).toBe("certificate: There is no integer as it.");
  });

  it("is true, for what is false is left out", () => {
    expect(refusalOf(() => trueOf(readHex("0101 00"), "it"))).toBe(
      "certificate: There is it written out where it is false.",
    );
  });

  it("is under the explicit tag of its context, and no other", () => {
    const inner = (value: Uint8Array, tag: number) => {
      const found = taggedOf(readDer(value, "the value"), tag, "it");
      return found && derBytes(found);
    };
    expect(inner(tagged(3, integer(5)), 3)).toEqual(integer(5));
    expect(inner(tagged(3, integer(5)), 2)).toBeUndefined();
    expect(inner(der(0x63, integer(5)), 3)).toBeUndefined();
    expect(inner(tagged(702, integer(5)), 702)).toEqual(integer(5));
    expect(taggedOf(undefined, 3, "it")).toBeUndefined();
    for (const wrong of [tagged(3), tagged(3, integer(5), integer(5)), der(0x83, integer(5))])
      expect(refusalOf(() => inner(wrong, 3))).toBe("certificate: There is not exactly one value in the tag of it.");
  });
});
