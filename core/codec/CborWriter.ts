/**
 * Deterministic CBOR (RFC 8949 4.2.1): shortest integers, definite lengths, no
 * tags, no floats. It writes tokens as codecs produce them, without building a
 * tree first; the property tests hold it against cborg's RFC 8949 encoding.
 */
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Limits } from "../base/Limits.ts";
import { assertText, type Codec, EncodeFault, type Sink } from "./Codec.ts";
import { copiedBytes } from "./Slab.ts";

const FIRST_CAPACITY = 4096;
/** A buffer that grew beyond this is given back after use. */
const KEPT_CAPACITY = 1024 * 1024;

export const TOO_MANY_ITEMS = `more than ${Limits.cborItems} items`;

/** The value of a hexadecimal digit's ASCII code: from "a" on, where bit 6 is set, nine more than its low bits. */
const hexValue = (code: number): number => (code & 15) + (code >> 6) * 9;

class CborSink implements Sink {
  #buffer = new Uint8Array(FIRST_CAPACITY);
  #length = 0;
  /** Items since it was last cleared, keys and containers among them. */
  #items = 0;
  /** The byte strings of a value that is `referring` so far, each with its number. */
  #numbers: Map<string, number> | undefined;

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#buffer.length * 2));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }

  /** The initial byte with its argument, in the shortest of the five forms. */
  #head(major: number, argument: number): void {
    this.#reserve(9);
    this.#items += 1;
    const buffer = this.#buffer;
    const type = major << 5;
    if (argument < 24) {
      buffer[this.#length++] = type | argument;
      return;
    }
    if (argument < 0x100) {
      buffer[this.#length++] = type | 24;
      buffer[this.#length++] = argument;
      return;
    }
    const width = argument < 0x10000 ? 2 : argument < 0x100000000 ? 4 : 8;
    buffer[this.#length++] = type | (width === 2 ? 25 : width === 4 ? 26 : 27);
    // Division, not shifts: arguments reach 2^53 - 1.
    let rest = argument;
    for (let index = this.#length + width - 1; index >= this.#length; index--) {
      buffer[index] = rest % 256;
      rest = Math.floor(rest / 256);
    }
    this.#length += width;
  }

  #append(major: number, content: Uint8Array): void {
    this.#head(major, content.length);
    this.raw(content);
  }

  /** Bytes as they are, outside any item: the tag before a preimage. */
  raw(content: Uint8Array): void {
    this.#reserve(content.length);
    this.#buffer.set(content, this.#length);
    this.#length += content.length;
  }

  uint(value: number): void {
    this.#head(0, value);
  }

  bytes(value: Uint8Array): void {
    this.#append(2, value);
  }

  text(value: string, max: number): void {
    if (value.length > max) assertText(value, max);
    const start = this.#length;
    this.#head(3, value.length);
    this.#reserve(value.length);
    const buffer = this.#buffer;
    let at = this.#length;
    for (let index = 0; index < value.length; index++) {
      const unit = value.charCodeAt(index);
      if (unit > 0x7f) {
        // Not ASCII after all: the length was wrong, so it begins again with the bytes.
        assertText(value, max);
        this.#length = start;
        this.#items -= 1;
        return this.#append(3, utf8ToBytes(value));
      }
      buffer[at++] = unit;
    }
    this.#length = at;
  }

  hex(value: string): void {
    const numbers = this.#numbers;
    if (numbers !== undefined) {
      const number = numbers.get(value);
      if (number !== undefined) return this.uint(number);
      numbers.set(value, numbers.size);
    }
    const count = value.length >> 1;
    this.#head(2, count);
    this.#reserve(count);
    const buffer = this.#buffer;
    let at = this.#length;
    for (let index = 0; index < value.length; index += 2)
      buffer[at++] = (hexValue(value.charCodeAt(index)) << 4) | hexValue(value.charCodeAt(index + 1));
    this.#length = at;
  }

  refer(write: () => void): void {
    this.#numbers = new Map();
    write();
    this.#numbers = undefined;
  }

  list(count: number): void {
    this.#head(4, count);
  }

  record(count: number): void {
    this.#head(5, count);
  }

  field(key: number): void {
    this.#head(0, key);
  }

  bool(value: boolean): void {
    this.#head(7, value ? 21 : 20);
  }

  nothing(): void {
    this.#head(7, 22);
  }

  /** The bytes since it was last cleared, valid until the next write. Throws where no reader would accept them. */
  view(): Uint8Array {
    if (this.#items > Limits.cborItems) throw new EncodeFault(`a value to be written has ${TOO_MANY_ITEMS}`);
    return this.#buffer.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
    this.#items = 0;
    this.#numbers = undefined;
    if (this.#buffer.length > KEPT_CAPACITY) this.#buffer = new Uint8Array(FIRST_CAPACITY);
  }
}

// One buffer for all: writing a value never writes another one in between.
const shared = new CborSink();

/**
 * Hands the one encoding of a value, after a prefix that is not part of it, to `use`, which must neither keep the bytes
 * nor encode anything: bytes that are only hashed or compared need no copy.
 */
export const withEncoding = <A, R>(prefix: Uint8Array, codec: Codec<A>, value: A, use: (bytes: Uint8Array) => R): R => {
  try {
    shared.raw(prefix);
    codec.write(value, shared);
    return use(shared.view());
  } finally {
    shared.clear();
  }
};

/** The one encoding of a value, after a prefix that is not part of it. */
export const encodeAfter = <A>(prefix: Uint8Array, codec: Codec<A>, value: A): Uint8Array =>
  withEncoding(prefix, codec, value, copiedBytes);

const NOTHING = new Uint8Array(0);

/** The one encoding of a value. */
export const encode = <A>(codec: Codec<A>, value: A): Uint8Array => encodeAfter(NOTHING, codec, value);
