/** Base64 (RFC 4648 section 4) with its padding, in its one canonical form: the other alphabet of {@link strictBase64Url}. */
import { base64Url, strictBase64Url } from "./Base64Url.ts";

/** The texts that {@link strictBase64} reads, as the pattern of a schema. */
export const BASE64_PATTERN = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$";

/** Characters that so many bytes take. */
export const base64Length = (bytes: number): number => 4 * Math.ceil(bytes / 3);

/**
 * Reads canonical padded Base64.
 *
 * @param text anything
 * @param longest the most bytes that are decoded; longer text is not looked at
 * @returns the bytes, or undefined for missing padding, white space, a character of another alphabet, unused bits that
 *   are not zero, or more than `longest` bytes
 */
export const strictBase64 = (text: string, longest: number): Uint8Array | undefined => {
  if (text.length % 4 !== 0 || text.length > base64Length(longest)) return undefined;
  if (text.includes("-") || text.includes("_")) return undefined;
  const end = text.endsWith("==") ? -2 : text.endsWith("=") ? -1 : text.length;
  return strictBase64Url(text.slice(0, end).replaceAll("+", "-").replaceAll("/", "_"), longest);
};

/** Writes the form that {@link strictBase64} reads. */
export const base64 = (bytes: Uint8Array): string => {
  const text = base64Url(bytes).replaceAll("-", "+").replaceAll("_", "/");
  return text.padEnd(base64Length(bytes.length), "=");
};
