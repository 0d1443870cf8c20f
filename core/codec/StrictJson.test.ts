import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Limits } from "../base/Limits.ts";
import { type JsonValue, parseStrictJson } from "./StrictJson.ts";

const parse = (text: string | Uint8Array, depth: number = Limits.jsonDepth) =>
  parseStrictJson(typeof text === "string" ? utf8ToBytes(text) : text, { depth });
const valueOf = (text: string | Uint8Array): JsonValue => Either.getOrThrow(parse(text));
const faultOf = (text: string | Uint8Array, depth?: number) => Either.getOrThrow(Either.flip(parse(text, depth)));
const codeOf = (text: string | Uint8Array) => faultOf(text).code;

/** The result expected of our parser, given that of `JSON.parse`. */
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
      // Bytes behind it are not looked at.
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
    // A fault inside is not reported at a higher place.
    expect(faultOf(`{"a":{"${"k".repeat(2000)}":{"b":!}}}`).pointer).toBe("/a");
  });
});
