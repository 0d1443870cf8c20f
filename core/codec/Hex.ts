/** Hexadecimal text of the many digests that a message holds. */
import { codesOf } from "./CharCodes.ts";

/** The ASCII codes of the sixteen digits. */
const digits = Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

/**
 * Lower-case hexadecimal of the bytes from `start` up to `end`, made in one piece: a text joined from single
 * digits is flattened when it is first looked at, which takes as long again.
 *
 * @param end at most some thousand behind `start`: each digit is an argument of a call
 */
export const hexOfRange = (bytes: Uint8Array, start: number, end: number): string => {
  const codes = codesOf(2 * (end - start));
  let at = 0;
  for (let index = start; index < end; index++) {
    const byte = bytes[index] ?? 0;
    codes[at++] = digits[byte >> 4] ?? 0;
    codes[at++] = digits[byte & 15] ?? 0;
  }
  return String.fromCharCode.apply(undefined, codes);
};

/** {@link hexOfRange} of all bytes. */
export const hexOfBytes = (bytes: Uint8Array): string => hexOfRange(bytes, 0, bytes.length);
