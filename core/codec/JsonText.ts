/** The bytes of a JSON text, how far they are read, and the fault where the reading stops. */
import { utf8Text } from "./Utf8.ts";

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

/** Leaves the recursion; never leaves `parseStrictJson`. */
export class JsonRefusal {
  readonly code: FaultCode;
  readonly detail: string;
  constructor(code: FaultCode, detail: string) {
    this.code = code;
    this.detail = detail;
  }
}

/** The value past the last byte; no byte has it. */
export const END = -1;

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const ZERO = 0x30;
const NINE = 0x39;

export const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE;

/** From this many bytes on, calling the platform's decoder pays off. */
export const LONG_RUN = 24;

export class JsonText {
  readonly bytes: Uint8Array;
  /** Everything before this offset is read. */
  at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  byte(index: number): number {
    return this.bytes[index] ?? END;
  }

  /** The first byte that is not read yet. */
  here(): number {
    return this.byte(this.at);
  }

  unexpected(wanted: string): JsonRefusal {
    return this.at >= this.bytes.length
      ? new JsonRefusal("unexpected_end", `The text ends where ${wanted} should stand (byte ${this.at}).`)
      : new JsonRefusal("unexpected_byte", `This is not ${wanted} (byte ${this.at}).`);
  }

  /**
   * The text of ASCII bytes. Short text is made from as many bytes at a time as there are, four times as fast as one by
   * one; longer text by the platform's decoder, in one piece, because the first reader of joined pieces copies them.
   */
  ascii(start: number, end: number): string {
    const { bytes } = this;
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
}
