/**
 * The one reader of CBOR (RFC 8949): definite lengths, every head in its shortest form, text in UTF-8, no tags, no
 * floats. Token by token, in the order in which a codec writes them; any misfit is thrown as a {@link DecodeFault},
 * whose path grows on its way out.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import { expected, found, textOf } from "./DecodeFault.ts";
import { utf8Text } from "./Utf8.ts";

/** Major types of RFC 8949 section 3.1. */
export const Major = { uint: 0, negative: 1, bytes: 2, text: 3, list: 4, map: 5, tag: 6, simple: 7 } as const;
/** Initial bytes of the three simple values. */
const FALSE = 0xf4;
const TRUE = 0xf5;
const NULL = 0xf6;

export class CborSource {
  readonly #bytes: Uint8Array;
  readonly #maxItems: number;
  readonly #newest: number;
  #at: number;
  #items = 0;
  /** The byte strings of a value that is `referring` so far, in the order of their numbers. */
  #known: Set<string> | undefined;
  #numbered: Array<string> = [];

  /**
   * @param maxItems how many items may be read, keys and containers among them
   * @param at where to begin
   * @param newest the newest version that its reader knows
   */
  constructor(bytes: Uint8Array, maxItems: number, at = 0, newest = 0) {
    this.#bytes = bytes;
    this.#maxItems = maxItems;
    this.#at = at;
    this.#newest = newest;
  }

  /** The offset of the next item. */
  get at(): number {
    return this.#at;
  }

  /** For callers that read one item and no more. */
  assertEnd(): void {
    if (this.#at !== this.#bytes.length) throw found("something after the end of the item");
  }

  /** The major type of the next item. */
  major(): number {
    return this.#initial() >> 5;
  }

  uint(): number {
    return this.#head(Major.uint, "an unsigned integer");
  }

  negative(): number {
    return -1 - this.#head(Major.negative, "a negative integer");
  }

  /** A number that stands for one of several things; below 0 where the next item is no number. */
  index(): number {
    return this.major() === Major.uint ? this.uint() : -1;
  }

  /** Text of at most `max` bytes in UTF-8. */
  text(max: number): string {
    if (this.major() !== Major.text) throw expected(textOf(max));
    const length = this.#argument();
    if (length > max) throw expected(textOf(max));
    const start = this.#content(length);
    const text = utf8Text(this.#bytes, start, this.#at);
    if (text === undefined) throw found("text that is not UTF-8");
    return text;
  }

  /** A byte string of at most `max` bytes, as a copy. */
  bytes(max: number): Uint8Array {
    if (this.major() !== Major.bytes) throw expected(`at most ${max} bytes`);
    const length = this.#argument();
    if (length > max) throw expected(`at most ${max} bytes`);
    const start = this.#content(length);
    // Not `slice`, which shares memory where the bytes are a Buffer.
    return new Uint8Array(this.#bytes.subarray(start, this.#at));
  }

  /** A byte string of exactly `length` bytes, as lower-case hexadecimal. */
  hex(length: number): string {
    if (this.#known !== undefined && this.major() === Major.uint) {
      const referred = this.#numbered[this.uint()];
      if (referred?.length !== 2 * length) throw expected(`${length} bytes, or the number of such that came before`);
      return referred;
    }
    if (this.major() !== Major.bytes || this.#argument() !== length) throw expected(`${length} bytes`);
    const start = this.#content(length);
    const value = bytesToHex(this.#bytes.subarray(start, this.#at));
    if (this.#known !== undefined) {
      if (this.#known.has(value)) throw found("bytes in full that came before");
      this.#known.add(value);
      this.#numbered.push(value);
    }
    return value;
  }

  /** Reads what is `referring`. */
  refer<A>(read: () => A): A {
    this.#known = new Set();
    this.#numbered = [];
    const value = read();
    this.#known = undefined;
    return value;
  }

  get isBool(): boolean {
    const initial = this.#initial();
    return initial === FALSE || initial === TRUE;
  }

  bool(): boolean {
    if (!this.isBool) throw expected("a boolean");
    const isTrue = this.#initial() === TRUE;
    this.#simple();
    return isTrue;
  }

  /** Whether the next item is a null, which is then consumed; any other item stays. */
  nothing(): boolean {
    if (this.#initial() !== NULL) return false;
    this.#simple();
    return true;
  }

  /** The head of a list: how many items follow, at most `max`. */
  list(max: number): number {
    const count = this.major() === Major.list ? this.#argument() : Number.POSITIVE_INFINITY;
    if (count > max) throw expected(`a list of at most ${max} items`);
    return count;
  }

  /** The head of a list of exactly two items. */
  pair(): void {
    if (this.major() !== Major.list || this.#argument() !== 2) throw expected("a pair");
  }

  /** The head of a versioned value, whose version its reader must know. */
  version(): number {
    this.pair();
    const version = this.uint();
    if (version === 0) throw expected("a version from 1");
    if (version > this.#newest)
      throw found(`version ${version}, and this program knows versions up to ${this.#newest}`);
    return version;
  }

  /** The head of a map: how many pairs of key and value follow. */
  map(): number {
    return this.#head(Major.map, "a map");
  }

  /** The head of a record with the fields from 0 to `count` - 1, which follow. */
  record(count: number): void {
    if (this.major() !== Major.map || this.#argument() !== count) throw expected(`a record of ${count} fields`);
  }

  /** The number of the field whose value follows. */
  field(key: number): void {
    if (this.major() !== Major.uint || this.#argument() !== key) throw expected("the field to be present");
  }

  #initial(): number {
    const initial = this.#bytes[this.#at];
    if (initial === undefined) throw found("the end in the middle of an item");
    return initial;
  }

  #count(): void {
    this.#items += 1;
    if (this.#items > this.#maxItems) throw found(`more than ${this.#maxItems} items`);
  }

  #simple(): void {
    this.#count();
    this.#at += 1;
  }

  #head(major: number, what: string): number {
    if (this.major() !== major) throw expected(what);
    return this.#argument();
  }

  /** Where the content of a string starts; the position is then behind it. */
  #content(length: number): number {
    const start = this.#at;
    if (length > this.#bytes.length - start) throw found("a string that is longer than the bytes");
    this.#at = start + length;
    return start;
  }

  /** The argument of the next head, which is not longer than it has to be. */
  #argument(): number {
    this.#count();
    const info = this.#initial() & 31;
    this.#at += 1;
    if (info < 24) return info;
    if (info > 27) throw found("a length that is indefinite or reserved");
    const width = 1 << (info - 24);
    if (width > this.#bytes.length - this.#at) throw found("the end in the middle of an item");
    let argument = 0;
    for (const end = this.#at + width; this.#at < end; this.#at++)
      argument = argument * 256 + (this.#bytes[this.#at] ?? 0);
    // An argument that fits into half the width, or into the head itself, belongs there.
    const least = width === 1 ? 24 : 256 ** (width / 2);
    if (argument < least) throw found("a number that is not in its shortest form");
    if (argument > Number.MAX_SAFE_INTEGER) throw found("a number beyond 2^53");
    return argument;
  }
}
