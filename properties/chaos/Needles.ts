/** Looks for any of many secrets in much text, in one pass over it. */
import { Encoding } from "effect";

/** Shorter ones would be found by chance. */
const LEAST_BYTES = 8;

const uint16At = (bytes: Uint8Array, at: number): number => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);

const isAt = (bytes: Uint8Array, at: number, needle: Uint8Array): boolean => {
  for (let index = 0; index < needle.length; index++) if (bytes[at + index] !== needle[index]) return false;
  return true;
};

export class Needles {
  /** By the first two bytes. */
  readonly #byStart = new Map<number, Array<Uint8Array>>();
  /** Whether any begins with these two bytes: most positions are passed with one look. */
  readonly #starts = new Uint8Array(1 << 16);

  /** Throws RangeError for one of less than 8 bytes. */
  constructor(needles: Iterable<Uint8Array>) {
    for (const needle of needles) {
      if (needle.length < LEAST_BYTES) throw new RangeError(`a secret of ${needle.length} bytes cannot be looked for`);
      const start = uint16At(needle, 0);
      this.#starts[start] = 1;
      this.#byStart.set(start, [...(this.#byStart.get(start) ?? []), needle]);
    }
  }

  isIn(hay: Uint8Array | string): boolean {
    const bytes = typeof hay === "string" ? Buffer.from(hay) : hay;
    for (let at = 0; at + LEAST_BYTES <= bytes.length; at++) {
      const start = uint16At(bytes, at);
      if (this.#starts[start] === 0) continue;
      for (const needle of this.#byStart.get(start) ?? []) if (isAt(bytes, at, needle)) return true;
    }
    return false;
  }
}

/** A secret of 32 bytes in every form in which it might be written: bytes, digits, Base64url and Base64. */
export const formsOf = (base64url: string): ReadonlyArray<Uint8Array> => {
  const bytes = Buffer.from(base64url, "base64url");
  const texts = [base64url, Encoding.encodeHex(bytes), bytes.toString("base64").replaceAll("=", "")];
  return [bytes, ...new Set(texts)].map((form) => (typeof form === "string" ? Buffer.from(form) : form));
};
