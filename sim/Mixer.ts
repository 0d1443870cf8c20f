/**
 * A quick hash of 64 bits in two lanes: for the simulator's stand-in crypto and
 * for trace hashes, where nobody with a computer attacks it.
 */
import type { Sink } from "../core/codec/Codec.ts";

const FIRST = 0x9e3779b1;
const SECOND = 0x85ebca77;
/** Of hexadecimal strings this many leading and trailing characters are mixed: the simulator's own repeat themselves. */
const HEX_HEAD = 16;
const HEX_TAIL = 4;

export const hexOfWords = (first: number, second: number): string =>
  (first >>> 0).toString(16).padStart(8, "0") + (second >>> 0).toString(16).padStart(8, "0");

export class Mixer implements Sink {
  #first = FIRST;
  #second = SECOND;

  reset(seed: number): this {
    this.#first = FIRST ^ seed;
    this.#second = SECOND + Math.imul(seed, FIRST);
    return this;
  }

  word(value: number): void {
    this.#first = Math.imul(this.#first ^ value, 0x9e3779b1);
    this.#first ^= this.#first >>> 15;
    this.#second = Math.imul(this.#second ^ value, 0x5f356495);
    this.#second = (this.#second << 13) | (this.#second >>> 19);
  }

  uint(value: number): void {
    this.word(value | 0);
    if (value > 0x7fffffff) this.word(Math.floor(value / 0x100000000) + 1);
  }

  text(value: string): void {
    const { length } = value;
    this.word(length);
    for (let index = 0; index < length; index++) this.word(value.charCodeAt(index));
  }

  bytes(value: Uint8Array): void {
    this.word(value.length);
    for (const byte of value) this.word(byte);
  }

  hex(value: string): void {
    const { length } = value;
    this.word(length);
    const head = Math.min(length, HEX_HEAD);
    for (let index = 0; index < head; index += 2)
      this.word((value.charCodeAt(index) << 16) | value.charCodeAt(index + 1));
    for (let index = Math.max(head, length - HEX_TAIL); index < length; index++) this.word(value.charCodeAt(index));
  }

  bool(value: boolean): void {
    this.word(value ? 1 : 2);
  }

  nothing(): void {
    this.word(3);
  }

  list(count: number): void {
    this.word(count);
  }

  record(count: number): void {
    this.word(count);
  }

  #finished(lane: number): number {
    let mixed = Math.imul(lane ^ (lane >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return mixed ^ (mixed >>> 16);
  }

  get first(): number {
    return this.#finished(this.#first ^ (this.#second >>> 7));
  }

  get second(): number {
    return this.#finished(this.#second + Math.imul(this.#first, 3));
  }

  /** 16 hexadecimal characters. */
  get hash(): string {
    return hexOfWords(this.first, this.second);
  }
}
