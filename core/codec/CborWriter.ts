/**
 * Deterministic CBOR (RFC 8949 4.2.1): shortest integers, definite lengths, no
 * tags, no floats. It writes tokens as codecs produce them, without building a
 * tree first; the property tests hold it against cborg's RFC 8949 encoding.
 */
import { utf8ToBytes } from "@noble/hashes/utils.js";
import type { Codec, Sink } from "./Codec.ts";

const FIRST_CAPACITY = 1024;

class CborSink implements Sink {
  #buffer = new Uint8Array(FIRST_CAPACITY);
  #length = 0;

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
    const buffer = this.#buffer;
    const type = major << 5;
    if (argument < 24) {
      buffer[this.#length++] = type | argument;
      return;
    }
    const width = argument < 0x100 ? 1 : argument < 0x10000 ? 2 : argument < 0x100000000 ? 4 : 8;
    buffer[this.#length++] = type | (24 + Math.log2(width));
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
    this.#reserve(content.length);
    this.#buffer.set(content, this.#length);
    this.#length += content.length;
  }

  readonly uint = (value: number): void => this.#head(0, value);
  readonly bytes = (value: Uint8Array): void => this.#append(2, value);
  readonly text = (value: string): void => this.#append(3, utf8ToBytes(value));
  readonly list = (count: number): void => this.#head(4, count);
  readonly record = (count: number): void => this.#head(5, count);
  readonly bool = (value: boolean): void => this.#head(7, value ? 21 : 20);
  readonly nothing = (): void => this.#head(7, 22);

  readonly hex = (value: string): void => {
    const count = value.length / 2;
    this.#head(2, count);
    this.#reserve(count);
    for (let index = 0; index < count; index++)
      this.#buffer[this.#length++] = Number.parseInt(value.slice(2 * index, 2 * index + 2), 16);
  };

  finish(): Uint8Array {
    return this.#buffer.slice(0, this.#length);
  }
}

/** The one encoding of a value. */
export const encode = <A>(codec: Codec<A>, value: A): Uint8Array => {
  const sink = new CborSink();
  codec.write(value, sink);
  return sink.finish();
};
