/**
 * Base64url (RFC 4648 section 5) without padding, in its one canonical form: the only one WebAuthn's JSON uses. Read in
 * one pass: a response to a ceremony is mostly this, and so is the time that reading one takes.
 */

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/** The value of what is no character of the alphabet: a bit that no other value has. */
const NONE = 64;
const CODES = Uint8Array.from(ALPHABET, (character) => character.charCodeAt(0));
/** Values by character code. */
const VALUES = new Uint8Array(128).fill(NONE);
for (const [value, code] of CODES.entries()) VALUES[code] = value;

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
  const bytes = new Uint8Array((whole / 4) * 3 + (last === 0 ? 0 : last - 1));
  let seen = 0;
  let end = 0;
  for (let at = 0; at < whole; at += 4) {
    const a = valueAt(text, at);
    const b = valueAt(text, at + 1);
    const c = valueAt(text, at + 2);
    const d = valueAt(text, at + 3);
    seen |= a | b | c | d;
    bytes[end] = (a << 2) | (b >> 4);
    bytes[end + 1] = (b << 4) | (c >> 2);
    bytes[end + 2] = (c << 6) | d;
    end += 3;
  }
  if (last !== 0) {
    const a = valueAt(text, whole);
    const b = valueAt(text, whole + 1);
    const c = last === 3 ? valueAt(text, whole + 2) : 0;
    const unused = last === 3 ? c & 0x03 : b & 0x0f;
    if (unused !== 0) return undefined;
    seen |= a | b | c;
    bytes[end] = (a << 2) | (b >> 4);
    if (last === 3) bytes[end + 1] = (b << 4) | (c >> 2);
  }
  return seen < NONE ? bytes : undefined;
};

const valueAt = (text: string, at: number): number => VALUES[text.charCodeAt(at)] ?? NONE;

/** Writes the form that {@link strictBase64Url} reads. */
export const base64Url = (bytes: Uint8Array): string => {
  const whole = bytes.length - (bytes.length % 3);
  let text = "";
  for (let at = 0; at < whole; at += 3) {
    const group = (byteAt(bytes, at) << 16) | (byteAt(bytes, at + 1) << 8) | byteAt(bytes, at + 2);
    text += String.fromCharCode(codeOf(group >> 18), codeOf(group >> 12), codeOf(group >> 6), codeOf(group));
  }
  if (whole === bytes.length) return text;
  const group = (byteAt(bytes, whole) << 16) | (byteAt(bytes, whole + 1) << 8);
  text += String.fromCharCode(codeOf(group >> 18), codeOf(group >> 12));
  return bytes.length - whole === 1 ? text : text + String.fromCharCode(codeOf(group >> 6));
};

const byteAt = (bytes: Uint8Array, at: number): number => bytes[at] ?? 0;
const codeOf = (value: number): number => CODES[value & 63] ?? 0;
