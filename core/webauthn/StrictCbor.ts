/**
 * CBOR (RFC 8949) as authenticators may write it: a strict subset of CTAP2's
 * canonical form. Refused are nesting and size without bound, indefinite and
 * over-long lengths, tags, floats, text that is not UTF-8, keys of other kinds and
 * keys that come twice. The order of a map's keys is left free, for honest
 * authenticators differ there. What is left is little enough to be read in the pass
 * that refuses the rest; text beyond ASCII is cborg's.
 */
import { Either } from "effect";
import { decodeItem } from "../codec/CborItem.ts";
import { isUtf8 } from "../codec/Utf8.ts";

export type CborKey = number | string;
export type CborValue = boolean | null | number | string | Uint8Array | CborArray | CborMap;
export type CborArray = ReadonlyArray<CborValue>;
export type CborMap = ReadonlyMap<CborKey, CborValue>;

/** Containers inside one another. An attestation object has three, its certificates included. */
const DEPTH = 8;
const ITEMS = 1024;

/** Major types of RFC 8949 section 3.1. */
const NEGATIVE = 1;
const BYTES = 2;
const TEXT = 3;
const ARRAY = 4;
const MAP = 5;
const TAG = 6;
const SIMPLE = 7;
const FALSE = 20;
const TRUE = 21;
const NULL = 22;

/** Leaves the recursion; never leaves this file. */
class Malformed {
  readonly detail: string;
  constructor(detail: string) {
    this.detail = detail;
  }
}

class Reader {
  readonly #bytes: Uint8Array;
  #at: number;
  #items = 0;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get at(): number {
    return this.#at;
  }

  /** @param depth how many containers stand around this item */
  item(depth: number): CborValue {
    this.#items += 1;
    if (this.#items > ITEMS) throw new Malformed(`more than ${ITEMS} items`);
    const start = this.#at;
    const major = this.#major();
    if (major === TAG) throw new Malformed("a tag");
    if (major === SIMPLE) return this.#simple();
    const argument = this.#argument();
    switch (major) {
      case NEGATIVE:
        return -1 - argument;
      case BYTES:
        return this.#string(argument);
      case TEXT:
        return this.#text(start, this.#string(argument));
      case ARRAY:
        return this.#array(argument, depth + 1);
      case MAP:
        return this.#map(argument, depth + 1);
      default:
        return argument;
    }
  }

  #major(): number {
    const initial = this.#bytes[this.#at];
    if (initial === undefined) throw new Malformed("the end in the middle of an item");
    return initial >> 5;
  }

  /** The argument of the head, in its shortest form, at most 2^53 - 2 so that a negative integer stays exact. */
  #argument(): number {
    const info = (this.#bytes[this.#at] ?? 0) & 31;
    this.#at += 1;
    if (info < 24) return info;
    if (info > 27) throw new Malformed("a length that is indefinite or reserved");
    const width = 1 << (info - 24);
    if (this.#at + width > this.#bytes.length) throw new Malformed("the end in the middle of an item");
    let argument = 0;
    for (let index = 0; index < width; index += 1) argument = argument * 256 + (this.#bytes[this.#at + index] ?? 0);
    this.#at += width;
    const least = width === 1 ? 24 : 2 ** (4 * width);
    if (argument < least) throw new Malformed("a number that is not in its shortest form");
    if (argument >= Number.MAX_SAFE_INTEGER) throw new Malformed("a number beyond 2^53");
    return argument;
  }

  /** false, true and null; no float, undefined or other simple value. */
  #simple(): boolean | null {
    const info = (this.#bytes[this.#at] ?? 0) & 31;
    if (info < FALSE || info > NULL) throw new Malformed("a float, undefined or a simple value");
    this.#at += 1;
    return info === NULL ? null : info === TRUE;
  }

  /** A view of the content of a string of either kind. */
  #string(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new Malformed("a string that is longer than the bytes");
    const content = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return content;
  }

  /** @param start where the head of the item stands */
  #text(start: number, content: Uint8Array): string {
    let text = "";
    for (const byte of content) {
      if (byte >= 0x80) return this.#wideText(start, content);
      text += String.fromCharCode(byte);
    }
    return text;
  }

  #wideText(start: number, content: Uint8Array): string {
    if (!isUtf8(content, 0, content.length)) throw new Malformed("text that is not UTF-8");
    return String(decodeItem(this.#bytes.subarray(start, this.#at)));
  }

  #array(length: number, depth: number): CborArray {
    checkDepth(depth);
    const items: Array<CborValue> = [];
    for (let index = 0; index < length; index += 1) items.push(this.item(depth));
    return items;
  }

  #map(length: number, depth: number): CborMap {
    checkDepth(depth);
    const members = new Map<CborKey, CborValue>();
    for (let index = 0; index < length; index += 1) {
      const key = this.#key(depth);
      if (members.has(key)) throw new Malformed("a map with the same key twice");
      members.set(key, this.item(depth));
    }
    return members;
  }

  #key(depth: number): CborKey {
    const major = this.#major();
    const key = major <= NEGATIVE || major === TEXT ? this.item(depth) : undefined;
    if (typeof key === "number" || typeof key === "string") return key;
    throw new Malformed("a map key that is neither an integer nor text");
  }
}

const checkDepth = (depth: number): void => {
  if (depth > DEPTH) throw new Malformed(`more than ${DEPTH} containers inside one another`);
};

/** One item and where it ends. */
export interface CborItem {
  readonly value: CborValue;
  readonly end: number;
}

/**
 * Reads the item that starts at an offset; what follows it is the caller's. Its byte strings are views of the bytes.
 *
 * @returns the item; or what the bytes hold that is not allowed, to follow "There is" in a sentence
 */
export const readCborItem = (bytes: Uint8Array, at: number): Either.Either<CborItem, string> => {
  const reader = new Reader(bytes, at);
  try {
    const value = reader.item(0);
    return Either.right({ value, end: reader.at });
  } catch (fault) {
    if (fault instanceof Malformed) return Either.left(fault.detail);
    throw fault;
  }
};

/** Reads bytes that are one item, and nothing after it. */
export const readCbor = (bytes: Uint8Array): Either.Either<CborValue, string> =>
  Either.flatMap(readCborItem(bytes, 0), ({ value, end }) =>
    end === bytes.length ? Either.right(value) : Either.left("something after the end of the item"),
  );

/** A map, or undefined for every other value. */
export const cborMap = (value: CborValue | undefined): CborMap | undefined =>
  value instanceof Map ? value : undefined;
/** A byte string, or undefined for every other value. */
export const cborBytes = (value: CborValue | undefined): Uint8Array | undefined =>
  value instanceof Uint8Array ? value : undefined;
