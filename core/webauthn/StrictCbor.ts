/**
 * CBOR (RFC 8949) as authenticators may write it: a strict subset of CTAP2's
 * canonical form. The values are built by cborg. What it tolerates is refused by a
 * scan before it: nesting and size without bound, indefinite and over-long
 * lengths, tags, floats, text that is not UTF-8, keys of other kinds. The order
 * of a map's keys is left free, for honest authenticators differ there.
 */
import { Either } from "effect";
import { decodeItem } from "../codec/CborItem.ts";
import { utf8Text } from "../codec/Utf8.ts";

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
const NULL = 22;

/** Leaves the recursion; never leaves this file. */
class Malformed {
  readonly detail: string;
  constructor(detail: string) {
    this.detail = detail;
  }
}

class Scanner {
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
  item(depth: number): void {
    this.#items += 1;
    if (this.#items > ITEMS) throw new Malformed(`more than ${ITEMS} items`);
    const major = this.#major();
    if (major === TAG) throw new Malformed("a tag");
    if (major === SIMPLE) return this.#simple();
    const argument = this.#argument();
    if (major === BYTES || major === TEXT) return this.#string(major, argument);
    if (major === ARRAY || major === MAP) return this.#container(major, argument, depth + 1);
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
  #simple(): void {
    const info = (this.#bytes[this.#at] ?? 0) & 31;
    if (info < FALSE || info > NULL) throw new Malformed("a float, undefined or a simple value");
    this.#at += 1;
  }

  #string(major: number, length: number): void {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new Malformed("a string that is longer than the bytes");
    if (major === TEXT && utf8Text(this.#bytes, this.#at, end) === undefined)
      throw new Malformed("text that is not UTF-8");
    this.#at = end;
  }

  #container(major: number, length: number, depth: number): void {
    if (depth > DEPTH) throw new Malformed(`more than ${DEPTH} containers inside one another`);
    for (let index = 0; index < length; index += 1) {
      if (major === MAP) this.#key(depth);
      this.item(depth);
    }
  }

  #key(depth: number): void {
    const major = this.#major();
    if (major > NEGATIVE && major !== TEXT) throw new Malformed("a map key that is neither an integer nor text");
    this.item(depth);
  }
}

/** One item and where it ends. */
export interface CborItem {
  readonly value: CborValue;
  readonly end: number;
}

/**
 * Reads the item that starts at an offset; what follows it is the caller's.
 *
 * @returns the item; or what the bytes hold that is not allowed, to follow "There is" in a sentence
 */
export const readCborItem = (bytes: Uint8Array, at: number): Either.Either<CborItem, string> => {
  const scanner = new Scanner(bytes, at);
  try {
    scanner.item(0);
  } catch (fault) {
    if (fault instanceof Malformed) return Either.left(fault.detail);
    throw fault;
  }
  return Either.try({
    try: () => ({ value: decodeItem(bytes.subarray(at, scanner.at)) as CborValue, end: scanner.at }),
    // Of what the decoder refuses, the scan has left one thing.
    catch: () => "a map with the same key twice",
  });
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
