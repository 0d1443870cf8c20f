/** The UTF-8 form of a string, and questions about it that are answered without encoding it. */
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { codesOf } from "./CharCodes.ts";

/** The decoder of the platform (WHATWG Encoding), which the core's own types leave out. */
declare const TextDecoder: new (
  encoding: "utf-8",
  options: { readonly fatal: true; readonly ignoreBOM: true },
) => { readonly decode: (bytes: Uint8Array) => string };
/** It refuses what is not UTF-8, and keeps a leading U+FEFF, or two byte strings would be one text. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const HIGH_SURROGATES = 0xd800;
const LOW_SURROGATES = 0xdc00;
const AFTER_SURROGATES = 0xe000;

/**
 * How many bytes a string takes in UTF-8, or undefined for one with half a surrogate
 * pair. Such a string has no UTF-8 form: encoders replace the half, so that two
 * different strings would get equal bytes.
 */
export const utf8Length = (text: string): number | undefined => {
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit < HIGH_SURROGATES || unit >= AFTER_SURROGATES) bytes += 3;
    else {
      index += 1;
      const low = text.charCodeAt(index);
      const isPair = unit < LOW_SURROGATES && low >= LOW_SURROGATES && low < AFTER_SURROGATES;
      if (!isPair) return undefined;
      bytes += 4;
    }
  }
  return bytes;
};

/** The bytes of a string. Most texts here are short and ASCII, for which calling an encoder of the platform is slow. */
export const utf8Bytes = (text: string): Uint8Array => {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit > 0x7f) return utf8ToBytes(text);
    bytes[index] = unit;
  }
  return bytes;
};

/** The text of the bytes from `start` up to `end`, or undefined where they are not UTF-8. */
export const utf8Text = (bytes: Uint8Array, start = 0, end = bytes.length): string | undefined => {
  const short = shortAscii(bytes, start, end);
  if (short !== undefined) return short;
  try {
    return decoder.decode(bytes.subarray(start, end));
  } catch {
    return undefined;
  }
};

/** Up to this length, character codes make a text faster than a call of the platform's decoder. */
const SHORT = 64;

/** The text of the bytes from `start` up to `end` if short and ASCII, as most texts are; otherwise undefined. */
const shortAscii = (bytes: Uint8Array, start: number, end: number): string | undefined => {
  const length = end - start;
  if (length > SHORT) return undefined;
  const codes = codesOf(length);
  for (let index = 0; index < length; index += 1) {
    const byte = bytes[start + index] ?? 0;
    if (byte > 0x7f) return undefined;
    codes[index] = byte;
  }
  return String.fromCharCode.apply(undefined, codes);
};
