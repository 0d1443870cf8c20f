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
import { readString } from "./JsonString.ts";
import { isDigit, JsonText, QUOTE, JsonRefusal, ZERO } from "./JsonText.ts";

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
  /** The maximum number of values, containers included; {@link Limits.jsonValues} by default. */
  readonly values?: number;
}

const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const COLON = 0x3a;
const LEFT_BRACKET = 0x5b;
const RIGHT_BRACKET = 0x5d;
const LEFT_BRACE = 0x7b;
const RIGHT_BRACE = 0x7d;

class Reader {
  readonly #json: JsonText;
  readonly #depthLimit: number;
  readonly #valuesLimit: number;
  /** The keys and indexes that lead to the value being read; a pointer is made of them only when something is wrong. */
  readonly #path: Array<string | number> = [];
  #values = 0;

  constructor(bytes: Uint8Array, { depth, values }: JsonLimits) {
    this.#json = new JsonText(bytes);
    this.#depthLimit = depth;
    this.#valuesLimit = values ?? Limits.jsonValues;
  }

  /** `JSON-text = ws value ws`, and nothing after it. */
  document(): JsonValue {
    if (this.#json.byte(0) === 0xef && this.#json.byte(1) === 0xbb && this.#json.byte(2) === 0xbf) {
      throw new JsonRefusal("byte_order_mark", "The text starts with a byte order mark (byte 0).");
    }
    this.#skipSpace();
    const value = this.#value(0);
    this.#skipSpace();
    if (this.#json.at < this.#json.bytes.length) {
      throw new JsonRefusal("trailing_bytes", `Something follows the end of the document (byte ${this.#json.at}).`);
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

  #skipSpace(): void {
    for (;;) {
      const byte = this.#json.here();
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.#json.at += 1;
    }
  }

  /** @param depth how many containers stand around this value */
  #value(depth: number): JsonValue {
    const byte = this.#json.here();
    this.#values += 1;
    if (this.#values > this.#valuesLimit) {
      throw new JsonRefusal("too_many_values", `More than ${this.#valuesLimit} values (byte ${this.#json.at}).`);
    }
    switch (byte) {
      case QUOTE:
        return readString(this.#json);
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
        throw this.#json.unexpected("a value");
    }
  }

  #deeper(depth: number): number {
    if (depth >= this.#depthLimit) {
      throw new JsonRefusal(
        "too_deep",
        `More than ${this.#depthLimit} containers inside one another (byte ${this.#json.at}).`,
      );
    }
    return depth + 1;
  }

  #literal<A>(word: string, value: A): A {
    for (let index = 0; index < word.length; index += 1) {
      if (this.#json.here() !== word.charCodeAt(index)) throw this.#json.unexpected("true, false or null");
      this.#json.at += 1;
    }
    return value;
  }

  #object(depth: number): JsonObject {
    const members = new Map<string, JsonValue>();
    this.#json.at += 1;
    this.#skipSpace();
    if (this.#json.here() === RIGHT_BRACE) {
      this.#json.at += 1;
      return members;
    }
    for (;;) {
      if (this.#json.here() !== QUOTE) throw this.#json.unexpected("a key in quotes");
      const keyAt = this.#json.at;
      const key = readString(this.#json);
      this.#path.push(key);
      // After unescaping: "a" and "\u0061" are one key.
      if (members.has(key)) throw new JsonRefusal("duplicate_key", `The object has this key already (byte ${keyAt}).`);
      this.#skipSpace();
      if (this.#json.here() !== COLON) throw this.#json.unexpected("a colon");
      this.#json.at += 1;
      this.#skipSpace();
      members.set(key, this.#value(depth));
      this.#path.pop();
      if (this.#endOf(RIGHT_BRACE, "a comma or the end of the object")) return members;
    }
  }

  #array(depth: number): JsonArray {
    const items: Array<JsonValue> = [];
    this.#json.at += 1;
    this.#skipSpace();
    if (this.#json.here() === RIGHT_BRACKET) {
      this.#json.at += 1;
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
    const byte = this.#json.here();
    if (byte !== closing && byte !== COMMA) throw this.#json.unexpected(wanted);
    this.#json.at += 1;
    if (byte === closing) return true;
    this.#skipSpace();
    return false;
  }

  #number(): number {
    const start = this.#json.at;
    const negative = this.#json.here() === MINUS;
    if (negative) this.#json.at += 1;
    if (this.#json.here() === ZERO) {
      this.#json.at += 1;
      if (isDigit(this.#json.here())) throw this.#badNumber("A number may not start with a superfluous zero");
    } else {
      this.#digits();
    }
    if (this.#json.here() === POINT) {
      this.#json.at += 1;
      this.#digits();
    }
    if ((this.#json.here() | 0x20) === 0x65) {
      this.#json.at += 1;
      const sign = this.#json.here();
      if (sign === PLUS || sign === MINUS) this.#json.at += 1;
      this.#digits();
    }
    const value = Number(this.#json.ascii(start, this.#json.at));
    if (!Number.isFinite(value)) {
      throw new JsonRefusal("number_out_of_range", `The number is too large to represent (byte ${start}).`);
    }
    return value;
  }

  #digits(): void {
    if (!isDigit(this.#json.here())) throw this.#badNumber("A digit is missing in a number");
    while (isDigit(this.#json.here())) this.#json.at += 1;
  }

  #badNumber(what: string): JsonRefusal {
    return new JsonRefusal("invalid_number", `${what} (byte ${this.#json.at}).`);
  }
}

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
    if (!(cause instanceof JsonRefusal)) throw cause;
    return Either.left({ pointer: reader.pointer(), code: cause.code, detail: cause.detail });
  }
};
