/**
 * A strict reader of JSON text (RFC 8259) as it arrives from outside: UTF-8
 * bytes, no byte order mark, no duplicate keys, no lone surrogates, no trailing
 * bytes, bounded nesting.
 *
 * `JSON.parse` is no substitute: it silently keeps the last of two equal keys
 * (RFC 8259 section 4 leaves that open), so that two readers of one signed
 * request could see different commands.
 */
import { Either } from "effect";
import { Limits } from "../base/Limits.ts";
import type { BodyFault } from "../base/Rejection.ts";
import { memberPointer } from "./JsonPointer.ts";
import { utf8Text } from "./Utf8.ts";

/**
 * A parsed document. An object is a map, so that a key such as `__proto__` is a
 * key like any other; its order is the order of the text.
 */
export type JsonValue = null | boolean | number | string | JsonArray | JsonObject;
export type JsonArray = ReadonlyArray<JsonValue>;
export type JsonObject = ReadonlyMap<string, JsonValue>;

export interface JsonLimits {
  /** How many containers may stand inside one another. */
  readonly depth: number;
  /** How many values there may be, containers included; {@link Limits.jsonValues} unless told. */
  readonly values?: number;
}

type FaultCode =
  | "byte_order_mark"
  | "control_character"
  | "duplicate_key"
  | "invalid_escape"
  | "invalid_number"
  | "invalid_utf8"
  | "lone_surrogate"
  | "number_out_of_range"
  | "too_deep"
  | "too_many_values"
  | "trailing_bytes"
  | "unexpected_byte"
  | "unexpected_end";

/** Leaves the recursion; never leaves this file. */
class Refused {
  readonly code: FaultCode;
  readonly detail: string;
  constructor(code: FaultCode, detail: string) {
    this.code = code;
    this.detail = detail;
  }
}

/** What {@link Reader.peek} answers past the last byte; no byte has this value. */
const END = -1;

const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const LEFT_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const RIGHT_BRACKET = 0x5d;
const LEFT_BRACE = 0x7b;
const RIGHT_BRACE = 0x7d;

/** 1 for the bytes that stand for themselves in a string, each as one character: printable ASCII, most of it. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(byte >= 0x20 && byte < 0x80 && byte !== QUOTE && byte !== BACKSLASH),
);
/** From so many bytes on the platform's decoder is worth its call. */
const LONG_RUN = 24;

/**
 * Short pieces of a text, joined so many code units at a time: one by one they would become a chain as long as the text,
 * which costs forty bytes a character and is walked by whoever first looks. A string is read in one go, so that all
 * readers share these.
 */
const units = new Uint16Array(1024);

/** RFC 8259 section 7: the byte after a backslash, and the character it stands for. */
const shortEscapes: ReadonlyMap<number, number> = new Map([
  [QUOTE, QUOTE],
  [BACKSLASH, BACKSLASH],
  [0x2f, 0x2f],
  [0x62, 0x08],
  [0x66, 0x0c],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
]);

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE;
const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

class Reader {
  readonly #bytes: Uint8Array;
  readonly #depthLimit: number;
  readonly #valuesLimit: number;
  /** The keys and indexes that lead to the value being read; a pointer is made of them only when something is wrong. */
  readonly #path: Array<string | number> = [];
  #at = 0;
  #values = 0;

  constructor(bytes: Uint8Array, { depth, values }: JsonLimits) {
    this.#bytes = bytes;
    this.#depthLimit = depth;
    this.#valuesLimit = values ?? Limits.jsonValues;
  }

  /** `JSON-text = ws value ws`, and nothing after it. */
  document(): JsonValue {
    if (this.#byte(0) === 0xef && this.#byte(1) === 0xbb && this.#byte(2) === 0xbf) {
      throw new Refused("byte_order_mark", "The text starts with a byte order mark (byte 0).");
    }
    this.#skipSpace();
    const value = this.#value(0);
    this.#skipSpace();
    if (this.#at < this.#bytes.length) {
      throw new Refused("trailing_bytes", `Something follows the end of the document (byte ${this.#at}).`);
    }
    return value;
  }

  /** The RFC 6901 pointer of the value being read. */
  pointer(): string {
    let pointer = "";
    for (const token of this.#path) {
      const next = memberPointer(pointer, token);
      if (next === pointer) break;
      pointer = next;
    }
    return pointer;
  }

  #byte(index: number): number {
    return this.#bytes[index] ?? END;
  }

  #unexpected(wanted: string): Refused {
    return this.#at >= this.#bytes.length
      ? new Refused("unexpected_end", `The text ends where ${wanted} should stand (byte ${this.#at}).`)
      : new Refused("unexpected_byte", `This is not ${wanted} (byte ${this.#at}).`);
  }

  #skipSpace(): void {
    for (;;) {
      const byte = this.#byte(this.#at);
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.#at += 1;
    }
  }

  /** @param depth how many containers stand around this value */
  #value(depth: number): JsonValue {
    const byte = this.#byte(this.#at);
    this.#values += 1;
    if (this.#values > this.#valuesLimit) {
      throw new Refused("too_many_values", `More than ${this.#valuesLimit} values (byte ${this.#at}).`);
    }
    switch (byte) {
      case QUOTE:
        return this.#string();
      case LEFT_BRACE:
        return this.#object(this.#deeper(depth));
      case LEFT_BRACKET:
        return this.#array(this.#deeper(depth));
      case 0x74:
        return this.#literal("true", true);
      case 0x66:
        return this.#literal("false", false);
      case 0x6e:
        return this.#literal("null", null);
      default:
        if (byte === MINUS || isDigit(byte)) return this.#number();
        throw this.#unexpected("a value");
    }
  }

  #deeper(depth: number): number {
    if (depth >= this.#depthLimit) {
      throw new Refused("too_deep", `More than ${this.#depthLimit} containers inside one another (byte ${this.#at}).`);
    }
    return depth + 1;
  }

  #literal<A>(word: string, value: A): A {
    for (let index = 0; index < word.length; index += 1) {
      if (this.#byte(this.#at) !== word.charCodeAt(index)) throw this.#unexpected("true, false or null");
      this.#at += 1;
    }
    return value;
  }

  #object(depth: number): JsonObject {
    const members = new Map<string, JsonValue>();
    this.#at += 1;
    this.#skipSpace();
    if (this.#byte(this.#at) === RIGHT_BRACE) {
      this.#at += 1;
      return members;
    }
    for (;;) {
      if (this.#byte(this.#at) !== QUOTE) throw this.#unexpected("a key in quotes");
      const keyAt = this.#at;
      const key = this.#string();
      this.#path.push(key);
      // After unescaping: "a" and "\u0061" are one key.
      if (members.has(key)) throw new Refused("duplicate_key", `The object has this key already (byte ${keyAt}).`);
      this.#skipSpace();
      if (this.#byte(this.#at) !== COLON) throw this.#unexpected("a colon");
      this.#at += 1;
      this.#skipSpace();
      members.set(key, this.#value(depth));
      this.#path.pop();
      if (this.#endOf(RIGHT_BRACE, "a comma or the end of the object")) return members;
    }
  }

  #array(depth: number): JsonArray {
    const items: Array<JsonValue> = [];
    this.#at += 1;
    this.#skipSpace();
    if (this.#byte(this.#at) === RIGHT_BRACKET) {
      this.#at += 1;
      return items;
    }
    for (;;) {
      this.#path.push(items.length);
      items.push(this.#value(depth));
      this.#path.pop();
      if (this.#endOf(RIGHT_BRACKET, "a comma or the end of the array")) return items;
    }
  }

  /** After a member: true at the closing byte, false at a comma, which is consumed with the space behind it. */
  #endOf(closing: number, wanted: string): boolean {
    this.#skipSpace();
    const byte = this.#byte(this.#at);
    if (byte !== closing && byte !== COMMA) throw this.#unexpected(wanted);
    this.#at += 1;
    if (byte === closing) return true;
    this.#skipSpace();
    return false;
  }

  #number(): number {
    const start = this.#at;
    const negative = this.#byte(this.#at) === MINUS;
    if (negative) this.#at += 1;
    if (this.#byte(this.#at) === ZERO) {
      this.#at += 1;
      if (isDigit(this.#byte(this.#at))) throw this.#badNumber("A number may not start with a superfluous zero");
    } else {
      this.#digits();
    }
    if (this.#byte(this.#at) === POINT) {
      this.#at += 1;
      this.#digits();
    }
    if ((this.#byte(this.#at) | 0x20) === 0x65) {
      this.#at += 1;
      const sign = this.#byte(this.#at);
      if (sign === PLUS || sign === MINUS) this.#at += 1;
      this.#digits();
    }
    const value = Number(this.#ascii(start, this.#at));
    if (!Number.isFinite(value)) {
      throw new Refused("number_out_of_range", `The number is too large to represent (byte ${start}).`);
    }
    return value;
  }

  #digits(): void {
    if (!isDigit(this.#byte(this.#at))) throw this.#badNumber("A digit is missing in a number");
    while (isDigit(this.#byte(this.#at))) this.#at += 1;
  }

  #badNumber(what: string): Refused {
    return new Refused("invalid_number", `${what} (byte ${this.#at}).`);
  }

  #string(): string {
    this.#at += 1;
    const start = this.#at;
    const end = this.#runEnd();
    // Printable ASCII to the end, the common case, is one run.
    return end === QUOTE ? this.#ascii(start, this.#at++) : this.#mixed(start);
  }

  /** The rest of a string in which the first run of printable ASCII, from `start` to here, does not end at a quote. */
  #mixed(start: number): string {
    let text = "";
    let filled = 0;
    let runStart = start;
    for (;;) {
      const byte = this.#runEnd();
      const length = this.#at - runStart;
      // Room for a short run and for the longest character behind it.
      if (length >= LONG_RUN || filled + LONG_RUN + 2 > units.length) {
        text += String.fromCharCode(...units.subarray(0, filled));
        filled = 0;
      }
      if (length >= LONG_RUN) text += this.#ascii(runStart, this.#at);
      else for (let index = 0; index < length; index += 1) units[filled++] = this.#byte(runStart + index);
      if (byte === QUOTE) {
        this.#at += 1;
        return text + String.fromCharCode(...units.subarray(0, filled));
      }
      if (byte === END) throw this.#unexpected("the end of a string");
      if (byte < 0x20) {
        throw new Refused("control_character", `A control character in a string must be escaped (byte ${this.#at}).`);
      }
      const point = byte === BACKSLASH ? this.#escape() : this.#multibyte(byte);
      if (point > 0xffff) units[filled++] = 0xd7c0 + (point >> 10);
      units[filled++] = point > 0xffff ? 0xdc00 + (point & 0x3ff) : point;
      runStart = this.#at;
    }
  }

  /** Goes to the next byte that is not printable ASCII, or is a quote or a backslash, and returns it. */
  #runEnd(): number {
    const bytes = this.#bytes;
    let at = this.#at;
    // A read beyond the end would make every read of this loop slow.
    while (at < bytes.length && PLAIN[bytes[at] ?? QUOTE] === 1) at += 1;
    this.#at = at;
    return this.#byte(at);
  }

  /**
   * The text of ASCII bytes. A few go as many at a time as there are, which is four times as fast as one by one; more go
   * through the platform's decoder, which leaves a text of one piece, where joined pieces are copied by who first looks.
   */
  #ascii(start: number, end: number): string {
    const bytes = this.#bytes;
    if (end - start >= LONG_RUN) return utf8Text(bytes.subarray(start, end)) ?? "";
    let text = "";
    let at = start;
    for (; at + 8 <= end; at += 8) {
      text += String.fromCharCode(
        bytes[at] ?? 0,
        bytes[at + 1] ?? 0,
        bytes[at + 2] ?? 0,
        bytes[at + 3] ?? 0,
        bytes[at + 4] ?? 0,
        bytes[at + 5] ?? 0,
        bytes[at + 6] ?? 0,
        bytes[at + 7] ?? 0,
      );
    }
    if (at + 4 <= end) {
      text += String.fromCharCode(bytes[at] ?? 0, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0, bytes[at + 3] ?? 0);
      at += 4;
    }
    if (at + 2 <= end) {
      text += String.fromCharCode(bytes[at] ?? 0, bytes[at + 1] ?? 0);
      at += 2;
    }
    return at < end ? text + String.fromCharCode(bytes[at] ?? 0) : text;
  }

  /** The character of one escape sequence, or of two that make a surrogate pair. */
  #escape(): number {
    const start = this.#at;
    this.#at += 1;
    const short = shortEscapes.get(this.#byte(this.#at));
    if (short !== undefined) {
      this.#at += 1;
      return short;
    }
    const unit = this.#codeUnit(start);
    if (!isHighSurrogate(unit)) {
      if (isLowSurrogate(unit)) throw loneSurrogate(start);
      return unit;
    }
    if (this.#byte(this.#at) !== BACKSLASH || this.#byte(this.#at + 1) !== 0x75) throw loneSurrogate(start);
    this.#at += 1;
    const low = this.#codeUnit(start);
    if (!isLowSurrogate(low)) throw loneSurrogate(start);
    return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
  }

  /** `uXXXX`, from the `u` on. */
  #codeUnit(start: number): number {
    let unit = this.#byte(this.#at) === 0x75 ? 0 : Number.NaN;
    for (let index = 1; index <= 4; index += 1) unit = unit * 16 + hexDigit(this.#byte(this.#at + index));
    if (Number.isNaN(unit)) throw new Refused("invalid_escape", `Not an escape sequence of JSON (byte ${start}).`);
    this.#at += 5;
    return unit;
  }

  /** One character of two to four bytes: exactly the well-formed sequences of Unicode table 3-7. */
  #multibyte(lead: number): number {
    const length = lead >= 0xc2 && lead <= 0xdf ? 2 : (lead & 0xf0) === 0xe0 ? 3 : (lead & 0xf8) === 0xf0 ? 4 : 0;
    let point = lead & (0xff >> (length + 1));
    let valid = length !== 0;
    for (let index = 1; valid && index < length; index += 1) {
      const byte = this.#byte(this.#at + index);
      valid = byte >= 0x80 && byte <= 0xbf;
      point = (point << 6) | (byte & 0x3f);
    }
    const shortest = length === 3 ? 0x800 : length === 4 ? 0x10000 : 0;
    if (!valid || point < shortest || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
      throw new Refused("invalid_utf8", `The bytes are not UTF-8 (byte ${this.#at}).`);
    }
    this.#at += length;
    return point;
  }
}

const loneSurrogate = (start: number): Refused =>
  new Refused("lone_surrogate", `Half a surrogate pair is no character (byte ${start}).`);

/** The value of a hexadecimal digit, NaN for any other byte. */
const hexDigit = (byte: number): number => {
  if (isDigit(byte)) return byte - ZERO;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : Number.NaN;
};

/**
 * Reads one JSON document.
 *
 * @param bytes the whole text; it is not kept
 * @param limits what the document may hold
 * @returns the document, or the first fault: an RFC 6901 pointer to the innermost
 *   value that was being read (cut to an ancestor where it would be very long), a
 *   stable code, and a sentence with the offset in bytes that never quotes the text
 */
export const parseStrictJson = (
  bytes: Uint8Array,
  limits: JsonLimits = { depth: Limits.jsonDepth },
): Either.Either<JsonValue, BodyFault> => {
  const reader = new Reader(bytes, limits);
  try {
    return Either.right(reader.document());
  } catch (cause) {
    if (!(cause instanceof Refused)) throw cause;
    return Either.left({ pointer: reader.pointer(), code: cause.code, detail: cause.detail });
  }
};
