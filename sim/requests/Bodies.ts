/** Bodies in bytes, of the length that they shall have. */
import { utf8Bytes } from "../../core/codec/Utf8.ts";

/** Bytes a body may have, by the contract. */
export const LONGEST_BODY = 256 * 1024;

/** What JSON may end with. */
const SPACE = 0x20;

/** With white space behind it, so that it has so many bytes at least. */
export const padded = (body: Uint8Array, least: number): Uint8Array => {
  if (body.length >= least) return body;
  const longer = new Uint8Array(least).fill(SPACE);
  longer.set(body);
  return longer;
};

export const bodyOf = (text: string, least: number): Uint8Array => padded(utf8Bytes(text), least);
