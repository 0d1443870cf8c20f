/** Base64url (RFC 4648 section 5) without padding, in its one canonical form: the only one WebAuthn's JSON uses. */
import { Either, Encoding } from "effect";

/** Whole groups, then at most one short group whose unused bits are zero. */
const CANONICAL = /^(?:[\w-]{4})*(?:[\w-][AQgw]|[\w-]{2}[AEIMQUYcgkosw048])?$/;

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
export const strictBase64Url = (text: string, longest: number): Uint8Array | undefined =>
  text.length <= base64UrlLength(longest) && CANONICAL.test(text) && !text.endsWith("\n")
    ? Either.getOrUndefined(Encoding.decodeBase64(padded(text)))
    : undefined;

const padded = (text: string): string =>
  text
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .padEnd(4 * Math.ceil(text.length / 4), "=");
