import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Limits } from "../base/Limits.ts";
import { type JsonValue, parseStrictJson } from "./StrictJson.ts";
import { everyEdge } from "../../properties/Utf8Edges.ts";

const parse = (text: string | Uint8Array, depth: number = Limits.jsonDepth) =>
  parseStrictJson(typeof text === "string" ? utf8ToBytes(text) : text, { depth });
const valueOf = (text: string | Uint8Array): JsonValue => Either.getOrThrow(parse(text));
const faultOf = (text: string | Uint8Array, depth?: number) => Either.getOrThrow(Either.flip(parse(text, depth)));
const codeOf = (text: string | Uint8Array) => faultOf(text).code;
const quoted = (...bytes: ReadonlyArray<number>) => Uint8Array.of(0x22, ...bytes, 0x22);

/** What our parser should make of what `JSON.parse` made. */
const mapped = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(mapped);
  if (typeof value !== "object" || value === null) return value;
  return new Map(Object.entries(value).map(([key, member]) => [key, mapped(member)]));
};

/** The strict UTF-8 decoder of the platform, which removes nothing. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

describe("accepted documents", () => {
  it("reads every kind of value", () => {
    expect(valueOf(' { "a" : [ 1 , -2.5e+3 , true , false , null , "x" ] , "b" : { } , "c" : [ ] } \r\n\t')).toEqual(
      new Map<string, JsonValue>([
        ["a", [1, -2500, true, false, null, "x"]],
        ["b", new Map()],
        ["c", []],
      ]),
    );
  });

  it("reads a bare scalar", () => {
    expect(valueOf('"\\ud83d\\ude00\\u0000\\/\\b\\f\\n\\r\\t\\"\\\\"')).toBe('😀\u0000/\b\f\n\r\t"\\');
    expect(valueOf("-0")).toBe(-0);
  });

  it("keeps keys that mean something to JavaScript as plain keys", () => {
    const value = valueOf('{"__proto__":{"admin":true},"constructor":1,"toString":2}');
    expect(value).toEqual(
      new Map<string, unknown>([
        ["__proto__", new Map([["admin", true]])],
        ["constructor", 1],
        ["toString", 2],
      ]),
    );
    expect({}).not.toHaveProperty("admin");
  });

  it("does not look beyond the view it was given", () => {
    const buffer = utf8ToBytes('xx{"a":1}yy');
    expect(valueOf(buffer.subarray(2, 9))).toEqual(new Map([["a", 1]]));
  });

  it("reads whatever JSON.stringify writes", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), fc.constantFrom(0, 1, "\t"), (value, space) => {
        const text = JSON.stringify(value, null, space);
        expect(valueOf(text)).toEqual(mapped(JSON.parse(text)));
      }),
      { numRuns: 1000 },
    );
  });

  it("agrees with JSON.parse on damaged documents wherever it accepts them", () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.constantFrom(...utf8ToBytes('{}[]",:\\u0e-.\u0001é 1'))), {
      minLength: 1,
      maxLength: 3,
    });
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), damage, (value, changes) => {
        const bytes = utf8ToBytes(JSON.stringify(value));
        for (const [index, byte] of changes) bytes[index % bytes.length] = byte;
        const result = parse(bytes);
        if (Either.isRight(result)) expect(result.right).toEqual(mapped(JSON.parse(utf8.decode(bytes))));
        else expect(result.left.detail).toMatch(/\(byte \d+\)\.$/);
      }),
      { numRuns: 3000 },
    );
  });
});

describe("duplicate keys", () => {
  it("are refused, compared after unescaping", () => {
    expect(faultOf('{"a":1,"b":{"x":1,"x":1}}')).toEqual({
      pointer: "/b/x",
      code: "duplicate_key",
      detail: "The object has this key already (byte 18).",
    });
    expect(codeOf('{"a":1,"\\u0061":2}')).toBe("duplicate_key");
    expect(codeOf('{"__proto__":1,"__proto__":2}')).toBe("duplicate_key");
    expect(codeOf('{"😀":1,"\\ud83d\\ude00":2}')).toBe("duplicate_key");
  });

  it("are not confused across objects or normalization forms", () => {
    expect(valueOf('[{"a":1},{"a":1}]')).toHaveLength(2);
    expect(valueOf('{"\u00e9":1,"e\u0301":2}')).toHaveProperty("size", 2);
  });
});

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
const nestedObjects = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

describe("nesting", () => {
  it.each([63, 64])("of %i containers is read", (depth) => {
    expect(Either.isRight(parseStrictJson(utf8ToBytes(nested(depth))))).toBe(true);
    expect(Either.isRight(parseStrictJson(utf8ToBytes(nestedObjects(depth))))).toBe(true);
  });

  it("of 65 containers is refused", () => {
    expect(Limits.jsonDepth).toBe(64);
    const result = Either.flip(parseStrictJson(utf8ToBytes(nested(65))));
    expect(Either.getOrThrow(result)).toEqual({
      pointer: "/0".repeat(64),
      code: "too_deep",
      detail: "More than 64 containers inside one another (byte 64).",
    });
    expect(codeOf(nestedObjects(65))).toBe("too_deep");
  });

  it("counts what is open, not what was", () => {
    expect(valueOf(`[${Array.from({ length: 1000 }, () => "[]").join(",")}]`)).toHaveLength(1000);
  });

  it("has a limit that the caller sets", () => {
    expect(Either.isRight(parse("[[]]", 2))).toBe(true);
    expect(faultOf("[[]]", 1).code).toBe("too_deep");
    expect(Either.isRight(parse("1", 0))).toBe(true);
    expect(faultOf("[]", 0).code).toBe("too_deep");
  });

  it("does not go on past sixteen thousand values, whatever they are", () => {
    expect(Limits.jsonValues).toBe(16_384);
    const list = (items: number) => `[${Array.from({ length: items }, () => "1").join(",")}]`;
    const object = (members: number) =>
      `{${Array.from({ length: members }, (_, index) => `"${index}":null`).join(",")}}`;
    for (const text of [list, object]) {
      // The container is one of them.
      expect(Either.isRight(parse(text(Limits.jsonValues - 1)))).toBe(true);
      expect(codeOf(text(Limits.jsonValues))).toBe("too_many_values");
      // What stands behind is not looked at.
      expect(codeOf(`${text(Limits.jsonValues)}{`)).toBe("too_many_values");
    }
    expect(faultOf(list(Limits.jsonValues))).toEqual({
      pointer: "/16383",
      code: "too_many_values",
      detail: "More than 16384 values (byte 32767).",
    });
  });

  it("has a limit of values that the caller sets", () => {
    const parseThree = (text: string) => parseStrictJson(utf8ToBytes(text), { depth: 9, values: 3 });
    expect(Either.isRight(parseThree('{"a":[1]}'))).toBe(true);
    expect(Either.isRight(parseThree("[1,2]"))).toBe(true);
    expect(Either.getOrThrow(Either.flip(parseThree("[1,2,3]")))).toEqual({
      pointer: "/2",
      code: "too_many_values",
      detail: "More than 3 values (byte 5).",
    });
  });

  it("of a hundred thousand brackets does not exhaust the stack", () => {
    expect(codeOf("[".repeat(100_000))).toBe("too_deep");
  });
});

describe("text", () => {
  it("is UTF-8 exactly where the platform's decoder says so", () => {
    const outsideAscii = fc.uint8Array({ minLength: 1, maxLength: 6 }).filter((bytes) => bytes.some((b) => b >= 0x80));
    const likely = fc.array(
      fc.constantFrom(
        0x41,
        0x7f,
        0x80,
        0x8f,
        0x90,
        0x9f,
        0xa0,
        0xbf,
        0xc0,
        0xc1,
        0xc2,
        0xdf,
        0xe0,
        0xed,
        0xef,
        0xf0,
        0xf4,
        0xf5,
        0xff,
      ),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(
        fc.oneof(
          likely.map((bytes) => Uint8Array.from(bytes)),
          outsideAscii,
        ),
        (bytes) => {
          fc.pre(!bytes.some((byte) => byte < 0x20 || byte === 0x22 || byte === 0x5c));
          const result = parse(quoted(...bytes));
          const expected = Either.try(() => utf8.decode(bytes));
          expect(Either.getOrElse(result, (fault) => fault.code)).toBe(
            Either.getOrElse(expected, () => "invalid_utf8"),
          );
        },
      ),
      { numRuns: 20_000 },
    );
  });

  it("reads long texts of short pieces as the platform does", () => {
    const piece = fc.constantFrom(
      "\\n",
      "\\u0061",
      "\\ud83d\\ude00",
      "é",
      "😀",
      "€",
      "a",
      "abc",
      "a".repeat(23),
      "a".repeat(24),
    );
    const repeated = fc.tuple(fc.array(piece, { minLength: 1, maxLength: 4 }), fc.integer({ min: 1, max: 1_500 }));
    fc.assert(
      fc.property(fc.array(repeated, { minLength: 1, maxLength: 3 }), (parts) => {
        const text = `"${parts.map(([pieces, times]) => pieces.join("").repeat(times)).join("")}"`;
        expect(parse(text)).toEqual(Either.right(JSON.parse(text)));
      }),
    );
  });

  it("is UTF-8 by every byte of a character", () => {
    const decoded = (bytes: Uint8Array): string =>
      Either.getOrElse(
        Either.try(() => utf8.decode(bytes)),
        () => "",
      );
    const read = (bytes: Uint8Array) => Either.getOrElse(parse(quoted(...bytes)), () => "");
    const edges = everyEdge().filter(([lead = 0]) => lead >= 0x80);
    expect(edges.filter((bytes) => bytes.every((byte) => byte >= 0x20) && read(bytes) !== decoded(bytes))).toEqual([]);
  });

  it.each([
    ["a continuation byte alone", [0x80]],
    ["an overlong slash", [0xc0, 0xaf]],
    ["an overlong U+07FF", [0xe0, 0x9f, 0xbf]],
    ["an overlong U+FFFF", [0xf0, 0x8f, 0xbf, 0xbf]],
    ["an encoded surrogate", [0xed, 0xa0, 0x80]],
    ["a code point above U+10FFFF", [0xf4, 0x90, 0x80, 0x80]],
    ["five bytes", [0xf8, 0x88, 0x80, 0x80, 0x80]],
    ["a sequence the quote cuts off", [0xe2, 0x82]],
    ["0xFF", [0xff]],
  ])("refuses %s", (_, bytes) => {
    expect(faultOf(quoted(...bytes))).toEqual({
      pointer: "",
      code: "invalid_utf8",
      detail: "The bytes are not UTF-8 (byte 1).",
    });
  });

  it.each(["\u0080", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\u{10000}", "\u{10ffff}"])(
    "reads the edge %j",
    (text) => expect(valueOf(JSON.stringify(text))).toBe(text),
  );

  it("starts with no byte order mark", () => {
    expect(codeOf("\ufeff{}")).toBe("byte_order_mark");
    expect(valueOf('"\ufeff"')).toBe("\ufeff");
    for (const bytes of [[0xef], [0xef, 0xbb], [0xef, 0xbb, 0xbe], [0xef, 0xba, 0xbf], [0xee, 0xbb, 0xbf]])
      expect(codeOf(Uint8Array.of(...bytes, 0x7b, 0x7d))).toBe("unexpected_byte");
  });

  it.each(["\ud7ff", "\ue000", "\ud800\udc00", "\ud800\udfff", "\udbff\udc00", "\udbff\udfff"])(
    "is read from escapes at the edges of surrogates: %j",
    (text) => {
      const escaped = Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16)}`).join("");
      expect(valueOf(`"${escaped}"`)).toBe(text);
    },
  );

  it("is read from hexadecimal digits of both cases, and from nothing beside them", () => {
    for (const digit of "0123456789abcdefABCDEF")
      expect(valueOf(`"\\u00${digit}0"`)).toBe(String.fromCharCode(Number.parseInt(`${digit}0`, 16)));
    for (const other of "/:@G`g\u0010 ") expect(codeOf(`"\\u00${other}0"`)).toBe("invalid_escape");
  });

  it.each([
    '"\\ud800"',
    '"\\udc00"',
    '"\\ud800\\ud800"',
    '"\\ud800x"',
    '"\\ud800\\n"',
    '"\\udc00\\ud800"',
    '"\\udc00\\udc00"',
    '"\\ud800xudc00"',
    '"\\ud800\\ue000"',
    '"\\udbff"',
    '"\\udfff"',
  ])("has no lone surrogate: %s", (text) => expect(codeOf(text)).toBe("lone_surrogate"));

  it.each(['"\\x41"', '"\\u12"', '"\\u12g4"', '"\\U0041"', '"\\', '"\\u', '"\\ud800\\u"'])(
    "has no escape but those of JSON: %s",
    (text) => expect(codeOf(text)).toBe("invalid_escape"),
  );

  it("escapes every control character below U+0020 and only those", () => {
    for (let byte = 0; byte < 0x20; byte += 1) expect(codeOf(quoted(byte))).toBe("control_character");
    expect(valueOf(quoted(0x7f))).toBe("\u007f");
  });
});

describe("numbers", () => {
  it.each(["0", "-0", "10", "1.5", "1e5", "1E-5", "1e+5", "123.456e-7", "9007199254740993", "5e-324", "1e-400"])(
    "reads %s",
    (text) => expect(valueOf(text)).toBe(Number(text)),
  );

  it.each(["01", "-01", "00", "1.", "-", "-a", "1.e5", "1e", "1e+", "1.5e-"])("refuses %s", (text) =>
    expect(codeOf(text)).toBe("invalid_number"),
  );

  it.each(["+1", ".5", "NaN", "Infinity", "0x10", "1_000", "1e5.5"])("has no other form: %s", (text) =>
    expect(["unexpected_byte", "trailing_bytes"]).toContain(codeOf(text)),
  );

  it("refuses what a double cannot hold", () => {
    expect(codeOf("1e309")).toBe("number_out_of_range");
    expect(codeOf(`-${"9".repeat(400)}`)).toBe("number_out_of_range");
  });
});

describe("faults", () => {
  it.each([
    ["", "", "unexpected_end", 0],
    ["  ", "", "unexpected_end", 2],
    ["{}x", "", "trailing_bytes", 2],
    ["{}{}", "", "trailing_bytes", 2],
    ["nulL", "", "unexpected_byte", 3],
    ["tru", "", "unexpected_end", 3],
    ['"a', "", "unexpected_end", 2],
    ['{"a', "", "unexpected_end", 3],
    ['{"a" 1}', "/a", "unexpected_byte", 5],
    ['{"a":}', "/a", "unexpected_byte", 5],
    ['{"a":1,}', "", "unexpected_byte", 7],
    ["{a:1}", "", "unexpected_byte", 1],
    ["[1,]", "/1", "unexpected_byte", 3],
    ["[1 2]", "", "unexpected_byte", 3],
    ['["é",{"k/~":[0,"\u0001"]}]', "/1/k~1~0/1", "control_character", 17],
  ])("of %j are at %j: %s, byte %i", (text, pointer, code, offset) => {
    const fault = faultOf(text);
    expect(fault).toMatchObject({ pointer, code });
    expect(fault.detail).toContain(`(byte ${offset})`);
  });

  it("never quote a value", () => {
    const secret = "s3cr3t-value";
    for (const text of [`["${secret}" 1]`, `{"a":"${secret}`, `["${secret}\\q"]`, `["${secret}"]${secret}`, secret]) {
      expect(JSON.stringify(faultOf(text))).not.toContain(secret);
    }
  });

  it("carry a pointer of bounded length", () => {
    const key = "k".repeat(600);
    expect(faultOf(`{"${key}":{"${key}":!}}`).pointer).toBe(`/${key}`);
    expect(faultOf(`{"${"k".repeat(1_000_000)}":!}`).pointer).toBe("");
    // What stands inside is not told of as if it stood higher.
    expect(faultOf(`{"a":{"${"k".repeat(2000)}":{"b":!}}}`).pointer).toBe("/a");
  });
});

const corpus = fileURLToPath(new URL("../../../shared/vectors/json/test_parsing/", import.meta.url));
const files = existsSync(corpus) ? readdirSync(corpus) : [];

const read = (file: string) => readFileSync(join(corpus, file));
const named = (start: string) => files.filter((file) => file.startsWith(start));

/** What the corpus leaves to the implementation, and what this one does. */
const choices: Readonly<Record<string, string | undefined>> = {
  "i_number_double_huge_neg_exp.json": undefined,
  "i_number_huge_exp.json": "number_out_of_range",
  "i_number_neg_int_huge_exp.json": "number_out_of_range",
  "i_number_pos_double_huge_exp.json": "number_out_of_range",
  "i_number_real_neg_overflow.json": "number_out_of_range",
  "i_number_real_pos_overflow.json": "number_out_of_range",
  "i_number_real_underflow.json": undefined,
  "i_number_too_big_neg_int.json": undefined,
  "i_number_too_big_pos_int.json": undefined,
  "i_number_very_big_negative_int.json": undefined,
  "i_object_key_lone_2nd_surrogate.json": "lone_surrogate",
  "i_string_1st_surrogate_but_2nd_missing.json": "lone_surrogate",
  "i_string_1st_valid_surrogate_2nd_invalid.json": "lone_surrogate",
  "i_string_UTF-16LE_with_BOM.json": "unexpected_byte",
  "i_string_UTF-8_invalid_sequence.json": "invalid_utf8",
  "i_string_UTF8_surrogate_U+D800.json": "invalid_utf8",
  "i_string_incomplete_surrogate_and_escape_valid.json": "lone_surrogate",
  "i_string_incomplete_surrogate_pair.json": "lone_surrogate",
  "i_string_incomplete_surrogates_escape_valid.json": "lone_surrogate",
  "i_string_invalid_lonely_surrogate.json": "lone_surrogate",
  "i_string_invalid_surrogate.json": "lone_surrogate",
  "i_string_invalid_utf-8.json": "invalid_utf8",
  "i_string_inverted_surrogates_U+1D11E.json": "lone_surrogate",
  "i_string_iso_latin_1.json": "invalid_utf8",
  "i_string_lone_second_surrogate.json": "lone_surrogate",
  "i_string_lone_utf8_continuation_byte.json": "invalid_utf8",
  "i_string_not_in_unicode_range.json": "invalid_utf8",
  "i_string_overlong_sequence_2_bytes.json": "invalid_utf8",
  "i_string_overlong_sequence_6_bytes.json": "invalid_utf8",
  "i_string_overlong_sequence_6_bytes_null.json": "invalid_utf8",
  "i_string_truncated-utf-8.json": "invalid_utf8",
  "i_string_utf16BE_no_BOM.json": "unexpected_byte",
  "i_string_utf16LE_no_BOM.json": "unexpected_byte",
  "i_structure_500_nested_arrays.json": "too_deep",
  "i_structure_UTF-8_BOM_empty_object.json": "byte_order_mark",
};

describe("JSONTestSuite", () => {
  const absent = `${corpus} is not here`;

  it("parses what must parse, to what JSON.parse makes of it, but for duplicate keys", ({ skip }) => {
    skip(files.length === 0, absent);
    for (const file of named("y_")) {
      const result = parseStrictJson(read(file));
      if (file.startsWith("y_object_duplicated_key")) {
        expect(Either.getOrThrow(Either.flip(result)).code, file).toBe("duplicate_key");
      } else {
        expect(Either.getOrThrow(result), file).toEqual(mapped(JSON.parse(utf8.decode(read(file)))));
      }
    }
    expect(named("y_").length).toBe(95);
  });

  it("refuses what must not parse", ({ skip }) => {
    skip(files.length === 0, absent);
    for (const file of named("n_")) expect(Either.isLeft(parseStrictJson(read(file))), file).toBe(true);
    expect(named("n_").length).toBe(188);
  });

  it("chooses as listed where the choice is free", ({ skip }) => {
    skip(files.length === 0, absent);
    const chosen = named("i_").map((file) => [
      file,
      Either.getOrUndefined(Either.flip(parseStrictJson(read(file))))?.code,
    ]);
    expect(Object.fromEntries(chosen)).toEqual(choices);
  });
});
