/** Hexadecimal text of the many digests that a message holds. */

/** The ASCII codes of the sixteen digits. */
const digits = Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

/**
 * Lower-case hexadecimal, made in one piece: a text joined from single digits is
 * flattened when it is first looked at, which takes as long again.
 *
 * @param bytes at most some thousand: each digit is an argument of a call
 */
export const hexOfBytes = (bytes: Uint8Array): string => {
  const codes: Array<number> = [];
  for (const byte of bytes) codes.push(digits[byte >> 4] ?? 0, digits[byte & 15] ?? 0);
  return String.fromCharCode(...codes);
};
