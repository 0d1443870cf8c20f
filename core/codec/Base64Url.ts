/**
 * Base64url (RFC 4648 section 5) without padding, in its one canonical form: the only one WebAuthn's JSON uses. Read in
 * one pass, because a ceremony's response consists mostly of it, and so does the time to read one.
 */
import { zeroBytes } from "./Slab.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/** The value of a character outside the alphabet: a bit that no other value has. */
const NONE = 64;
const CODES = Uint8Array.from(ALPHABET, (character) => character.charCodeAt(0));
/** Codes below this are ASCII; the others have a bit that these have not. */
const ASCII = 128;
/** The code of the character for zero. */
const ZERO = 0x41;
/** Values by character code. */
const VALUES = new Uint8Array(ASCII).fill(NONE);
for (const [value, code] of CODES.entries()) VALUES[code] = value;

/** The texts that {@link strictBase64Url} reads, as the pattern of a schema. */
export const BASE64URL_PATTERN = "^(?:[\\w-]{4})*(?:[\\w-][AQgw]|[\\w-]{2}[AEIMQUYcgkosw048])?$";

/** Characters that so many bytes take. */
export const base64UrlLength = (bytes: number): number => Math.ceil((bytes * 4) / 3);

/**
 * Reads canonical unpadded Base64url.
 *
 * @param text anything
 * @param longest the most bytes that are decoded; longer text is not looked at
 * @returns the bytes, or undefined for padding, white space, a character of another alphabet, unused bits that are
 *   not zero, or more than `longest` bytes
 */
export const strictBase64Url = (text: string, longest: number): Uint8Array | undefined => {
  const last = text.length % 4;
  if (last === 1 || text.length > base64UrlLength(longest)) return undefined;
  const whole = text.length - last;
  const bytes = zeroBytes((whole / 4) * 3 + (last === 0 ? 0 : last - 1));
  // Every code and every value, to be judged at the end: in each, one bit is set for invalid input only.
  let codes = 0;
  let values = 0;
  let end = 0;
  for (let at = 0; at < whole; at += 4) {
    const first = text.charCodeAt(at);
    const second = text.charCodeAt(at + 1);
    const third = text.charCodeAt(at + 2);
    const fourth = text.charCodeAt(at + 3);
    const a = valueOf(first);
    const b = valueOf(second);
    const c = valueOf(third);
    const d = valueOf(fourth);
    codes |= first | second | third | fourth;
    values |= a | b | c | d;
    bytes[end] = (a << 2) | (b >> 4);
    bytes[end + 1] = (b << 4) | (c >> 2);
    bytes[end + 2] = (c << 6) | d;
    end += 3;
  }
  if (last !== 0) {
    const first = text.charCodeAt(whole);
    const second = text.charCodeAt(whole + 1);
    const third = last === 3 ? text.charCodeAt(whole + 2) : ZERO;
    const a = valueOf(first);
    const b = valueOf(second);
    const c = valueOf(third);
    const unused = last === 3 ? c & 0x03 : b & 0x0f;
    if (unused !== 0) return undefined;
    codes |= first | second | third;
    values |= a | b | c;
    bytes[end] = (a << 2) | (b >> 4);
    if (last === 3) bytes[end + 1] = (b << 4) | (c >> 2);
  }
  return codes < ASCII && values < NONE ? bytes : undefined;
};

/**
 * Why text is not what {@link strictBase64Url} reads, in one sentence that quotes nothing of it.
 *
 * @param longest the most bytes it may hold
 */
export const base64UrlFault = (text: string, longest: number): string => {
  const bound = `This must be unpadded Base64url of at most ${longest} bytes`;
  const stranger = /[^A-Za-z0-9_-]/.exec(text);
  if (stranger !== null) return `${bound}; character ${stranger.index + 1} ${strangerAs(stranger[0])}.`;
  if (text.length > base64UrlLength(longest))
    return `${bound}, which are ${base64UrlLength(longest)} characters; there are ${text.length}.`;
  if (text.length % 4 === 1) return `${bound}; no bytes are ${text.length} characters long.`;
  return `${bound}; the last character has bits set that no byte has.`;
};

const strangerAs = (character: string): string => {
  if (character === "=") return "is padding";
  if (character === "+" || character === "/") return "is one of the other alphabet, which has + and / for - and _";
  return /\s/.test(character) ? "is white space" : "is none of the alphabet";
};

/** The value of an ASCII code; for any other code, the value of some ASCII code. */
const valueOf = (code: number): number => VALUES[code & (ASCII - 1)] ?? NONE;

/** Writes the form that {@link strictBase64Url} reads: quanta of four characters, four at a time where possible. */
export const base64Url = (bytes: Uint8Array): string => {
  let text = "";
  let at = 0;
  // One text of sixteen characters, because the first reader of joined pieces copies them once more.
  for (; at + 12 <= bytes.length; at += 12) {
    const a = groupAt(bytes, at);
    const b = groupAt(bytes, at + 3);
    const c = groupAt(bytes, at + 6);
    const d = groupAt(bytes, at + 9);
    text += String.fromCharCode(
      codeOf(a >> 18),
      codeOf(a >> 12),
      codeOf(a >> 6),
      codeOf(a),
      codeOf(b >> 18),
      codeOf(b >> 12),
      codeOf(b >> 6),
      codeOf(b),
      codeOf(c >> 18),
      codeOf(c >> 12),
      codeOf(c >> 6),
      codeOf(c),
      codeOf(d >> 18),
      codeOf(d >> 12),
      codeOf(d >> 6),
      codeOf(d),
    );
  }
  for (; at + 3 <= bytes.length; at += 3) {
    const group = groupAt(bytes, at);
    text += String.fromCharCode(codeOf(group >> 18), codeOf(group >> 12), codeOf(group >> 6), codeOf(group));
  }
  if (at === bytes.length) return text;
  const group = groupAt(bytes, at);
  text += String.fromCharCode(codeOf(group >> 18), codeOf(group >> 12));
  return bytes.length - at === 1 ? text : text + String.fromCharCode(codeOf(group >> 6));
};

/** Three bytes as a number, with zeros for those beyond the end. */
const groupAt = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
const codeOf = (value: number): number => CODES[value & 63] ?? 0;
