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

/** The strict UTF-8 decoder of the platform, which removes nothing. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

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
