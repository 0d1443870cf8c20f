/**
 * Reads values straight from deterministic CBOR (RFC 8949 4.2.1): every head in its shortest form, every field
 * in its place, text in UTF-8. Whatever else comes is refused without a word; {@link ItemSource} finds the words.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import { DecodeFault, type Source } from "./Source.ts";
import { utf8Text } from "./Utf8.ts";

/** Major types of RFC 8949 section 3.1. */
const UINT = 0;
const BYTES = 2;
const TEXT = 3;
const LIST = 4;
const RECORD = 5;
/** Initial bytes of the three simple values. */
const FALSE = 0xf4;
const TRUE = 0xf5;
const NULL = 0xf6;

const refusal = (): DecodeFault => new DecodeFault("deterministic CBOR");

export class StrictSource implements Source {
  readonly #bytes: Uint8Array;
  readonly #maxItems: number;
  #at = 0;
  #items = 0;

  /** @param maxItems how many items may be read, the keys of records and the containers among them */
  constructor(bytes: Uint8Array, maxItems: number) {
    this.#bytes = bytes;
    this.#maxItems = maxItems;
  }

  /** Whether all bytes are read. */
  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  uint(): number {
    return this.#head(UINT);
  }

  index(): number {
    return this.#head(UINT);
  }

  text(max: number): string {
    const start = this.#content(TEXT, max);
    const text = utf8Text(this.#bytes, start, this.#at);
    if (text === undefined) throw refusal();
    return text;
  }

  bytes(max: number): Uint8Array {
    const start = this.#content(BYTES, max);
    // Not `slice`, which shares memory where the bytes are a Buffer.
    return new Uint8Array(this.#bytes.subarray(start, this.#at));
  }

  hex(length: number): string {
    const start = this.#content(BYTES, length);
    if (this.#at - start !== length) throw refusal();
    return bytesToHex(this.#bytes.subarray(start, this.#at));
  }

  bool(): boolean {
    const initial = this.#simple();
    if (initial !== FALSE && initial !== TRUE) throw refusal();
    return initial === TRUE;
  }

  nothing(): boolean {
    if (this.#bytes[this.#at] !== NULL) return false;
    this.#simple();
    return true;
  }

  list(max: number): number {
    const count = this.#head(LIST);
    if (count > max) throw refusal();
    return count;
  }

  pair(): void {
    if (this.#head(LIST) !== 2) throw refusal();
  }

  record(count: number): void {
    if (this.#head(RECORD) !== count) throw refusal();
  }

  field(key: number): void {
    if (this.#head(UINT) !== key) throw refusal();
  }

  #simple(): number | undefined {
    this.#count();
    return this.#bytes[this.#at++];
  }

  #count(): void {
    this.#items += 1;
    if (this.#items > this.#maxItems) throw refusal();
  }

  /** Where the content of a string of at most `max` bytes starts; the place is then behind it. */
  #content(major: number, max: number): number {
    const length = this.#head(major);
    const start = this.#at;
    if (length > max || length > this.#bytes.length - start) throw refusal();
    this.#at = start + length;
    return start;
  }

  /** The argument of the next head, which is of this major type and not longer than it has to be. */
  #head(major: number): number {
    this.#count();
    const initial = this.#bytes[this.#at] ?? 0;
    if (initial >> 5 !== major) throw refusal();
    this.#at += 1;
    const info = initial & 31;
    if (info < 24) {
      // An empty rest reads as an unsigned 0.
      if (this.#at > this.#bytes.length) throw refusal();
      return info;
    }
    if (info > 27) throw refusal();
    const width = 1 << (info - 24);
    if (width > this.#bytes.length - this.#at) throw refusal();
    let argument = 0;
    for (const end = this.#at + width; this.#at < end; this.#at++)
      argument = argument * 256 + (this.#bytes[this.#at] ?? 0);
    // What fits into half the width, or into the head itself, belongs there.
    const least = width === 1 ? 24 : 256 ** (width / 2);
    if (argument < least || argument > Number.MAX_SAFE_INTEGER) throw refusal();
    return argument;
  }
}
