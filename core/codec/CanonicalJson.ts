/**
 * Canonical JSON: RFC 8785 restricted to strings, booleans, null, objects,
 * arrays and integers. A ref is a digest of it (contract 2.2), so every
 * implementation must produce the same bytes; fractions and exponents are left
 * out because number formatting is where implementations differ.
 */
import { utf8Length } from "./Utf8.ts";

/** Values with a canonical form. A number must be an integer from -(2^53 - 1) to 2^53 - 1. */
export type CanonicalValue =
  | null
  | boolean
  | number
  | string
  | ReadonlyArray<CanonicalValue>
  | ReadonlyMap<string, CanonicalValue>
  | { readonly [key: string]: CanonicalValue };

/** A value without a canonical form: a number that is no safe integer, or text that is no Unicode. */
export class NotCanonical extends Error {
  override readonly name = "NotCanonical";
}

/**
 * Writes the canonical form.
 *
 * @param value a tree without cycles; objects may be maps or plain records
 * @returns JSON text: no whitespace, keys sorted by UTF-16 code units (RFC 8785
 *   section 3.2.3), the escapes of ECMAScript (3.2.2.2), `-0` as `0` (3.2.2.3)
 * @throws NotCanonical for a fraction, an infinity, NaN, an integer beyond 2^53 - 1
 *   or a lone surrogate, which RFC 8785 section 3.2.2.2 says must end the operation
 */
export const canonicalJson = (value: CanonicalValue): string => {
  switch (typeof value) {
    case "string":
      return canonicalString(value);
    case "number":
      if (!Number.isSafeInteger(value)) throw new NotCanonical("Only integers up to 2^53 - 1 have a canonical form.");
      return String(value);
    case "boolean":
      return value ? "true" : "false";
    default:
      if (value === null) return "null";
      if (isList(value)) return `[${value.map(canonicalJson).join(",")}]`;
      return canonicalObject(value instanceof Map ? [...value] : Object.entries(value));
  }
};

/** `Array.isArray` alone does not narrow a read-only array. */
const isList = (value: CanonicalValue): value is ReadonlyArray<CanonicalValue> => Array.isArray(value);

const canonicalObject = (members: ReadonlyArray<readonly [string, CanonicalValue]>): string => {
  // JavaScript compares strings by UTF-16 code units, which is the order RFC 8785 asks for.
  const sorted = members.toSorted(([left], [right]) => (left < right ? -1 : 1));
  let text = "";
  for (const [key, member] of sorted)
    text += `${text === "" ? "" : ","}${canonicalString(key)}:${canonicalJson(member)}`;
  return `{${text}}`;
};

/** Text that goes into quotes unchanged: printable ASCII without the quote and the backslash. */
const isPlain = (text: string): boolean => {
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x20 || unit > 0x7e || unit === 0x22 || unit === 0x5c) return false;
  }
  return true;
};

const canonicalString = (text: string): string => {
  if (isPlain(text)) return `"${text}"`;
  if (utf8Length(text) === undefined) throw new NotCanonical("Half a surrogate pair has no canonical form.");
  return JSON.stringify(text);
};
