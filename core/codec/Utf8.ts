/** The UTF-8 form of a string, and questions about it that are answered without encoding it. */
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { codesOf } from "./CharCodes.ts";

/** The decoder of the platform (WHATWG Encoding), which the core's own types leave out. */
declare const TextDecoder: new () => { readonly decode: (bytes: Uint8Array) => string };
const decoder = new TextDecoder();

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

/** The bytes of a string. Most texts here are short and ASCII, for which an encoder of the platform is slow to call. */
export const utf8Bytes = (text: string): Uint8Array => {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit > 0x7f) return utf8ToBytes(text);
    bytes[index] = unit;
  }
  return bytes;
};

/** The text of bytes that are UTF-8. For short texts the call takes longer than the text. */
export const decodedUtf8 = (bytes: Uint8Array): string => decoder.decode(bytes);

/**
 * The order of two strings by their UTF-8 bytes, which is the order by code points.
 * `<` compares UTF-16 code units and puts U+10000 before U+E000.
 *
 * @returns negative, zero or positive, as `sort` wants it
 */
export const compareUtf8 = (left: string, right: string): number => {
  const shared = Math.min(left.length, right.length);
  for (let index = 0; index < shared; index += 1) {
    const difference = rank(left.charCodeAt(index)) - rank(right.charCodeAt(index));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
};

/** Surrogates stand for the code points above all others. */
const rank = (unit: number): number => {
  if (unit < HIGH_SURROGATES) return unit;
  return unit < AFTER_SURROGATES ? unit + 0x2000 : unit - 0x800;
};

/** Whether a range of bytes is UTF-8: exactly the well-formed sequences of Unicode table 3-7. */
export const isUtf8 = (bytes: Uint8Array, start: number, end: number): boolean => {
  let at = start;
  while (at < end) {
    const lead = bytes[at] ?? 0;
    at += 1;
    if (lead < 0x80) continue;
    const following =
      lead >= 0xc2 && lead <= 0xdf ? 1 : (lead & 0xf0) === 0xe0 ? 2 : lead >= 0xf0 && lead <= 0xf4 ? 3 : 0;
    if (following === 0 || at + following > end) return false;
    // The second byte excludes over-long forms, surrogates and what lies above U+10FFFF.
    const second = bytes[at] ?? 0;
    const least = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
    const most = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
    if (second < least || second > most) return false;
    for (let index = 1; index < following; index += 1) if (((bytes[at + index] ?? 0) & 0xc0) !== 0x80) return false;
    at += following;
  }
  return true;
};

/** Up to here a text made of character codes is made sooner than a decoder of the platform is called. */
const SHORT = 64;

/** The text of the bytes from `start` up to `end` if that is short and ASCII, as most texts are; otherwise undefined. */
export const shortAscii = (bytes: Uint8Array, start: number, end: number): string | undefined => {
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
