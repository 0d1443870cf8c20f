/**
 * A quick hash of 64 bits in two lanes: for the simulator's stand-in crypto and
 * for trace hashes, where nobody with a computer attacks it.
 */
import { assertText, type Sink } from "../../core/codec/Codec.ts";
import { utf8Bytes } from "../../core/codec/Utf8.ts";

const FIRST = 0x9e3779b1;
const SECOND = 0x85ebca77;
/** Of hexadecimal strings this many leading and trailing characters are mixed: the simulator's own have 16, or repeat themselves. */
const HEX_HEAD = 16;
const HEX_TAIL = 4;

/** Two characters in one word, and whether either is beyond ASCII. */
const NOT_ASCII = 0xff80ff80;

const hexBytes = Array.from({ length: 256 }, (_, value) => value.toString(16).padStart(2, "0"));

const hexOfByte = (byte: number): string => hexBytes[byte & 255] ?? "";

/** A 32-bit word as 8 hexadecimal characters. */
export const hexOfWord = (word: number): string =>
  hexOfByte(word >>> 24) + hexOfByte(word >>> 16) + hexOfByte(word >>> 8) + hexOfByte(word);

/** The ASCII code of the hexadecimal digit for four bits of a word, counted from the right. */
const digitAt = (word: number, shift: number): number => {
  const value = (word >>> shift) & 15;
  return value < 10 ? 48 + value : 87 + value;
};

const finished = (lane: number): number => {
  let mixed = Math.imul(lane ^ (lane >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
};

// Everything that is hashed goes through here, so the lanes are plain fields and loops keep them in locals.
export class Mixer implements Sink {
  left = FIRST;
  right = SECOND;

  reset(seed: number): this {
    this.left = FIRST ^ seed;
    this.right = (SECOND + Math.imul(seed, FIRST)) | 0;
    return this;
  }

  word(value: number): void {
    const left = Math.imul(this.left ^ value, 0x9e3779b1);
    const right = Math.imul(this.right ^ value, 0x5f356495);
    this.left = left ^ (left >>> 15);
    this.right = (right << 13) | (right >>> 19);
  }

  uint(value: number): void {
    this.word(value | 0);
    if (value > 0x7fffffff) this.word(Math.floor(value / 0x100000000) + 1);
  }

  text(value: string, max = Number.POSITIVE_INFINITY): void {
    const { length } = value;
    if (length > max) assertText(value, max);
    this.word(length);
    let all = 0;
    let index = 1;
    for (; index < length; index += 2) {
      const word = (value.charCodeAt(index - 1) << 16) | value.charCodeAt(index);
      all |= word;
      this.word(word);
    }
    if (index === length) {
      const last = value.charCodeAt(index - 1);
      all |= last;
      this.word(last);
    }
    if ((all & NOT_ASCII) !== 0) assertText(value, max);
  }

  refer(write: () => void): void {
    write();
  }

  bytes(value: Uint8Array): void {
    const { length } = value;
    this.word(length);
    let index = 3;
    for (; index < length; index += 4)
      this.word(
        ((value[index - 3] ?? 0) << 24) |
          ((value[index - 2] ?? 0) << 16) |
          ((value[index - 1] ?? 0) << 8) |
          (value[index] ?? 0),
      );
    for (index -= 3; index < length; index++) this.word(value[index] ?? 0);
  }

  /** What {@link bytes} would make of the UTF-8 form of a text; ASCII needs no array for that. */
  utf8(value: string): void {
    const { left, right } = this;
    const { length } = value;
    this.word(length);
    let all = 0;
    let index = 3;
    for (; index < length; index += 4) {
      const first = value.charCodeAt(index - 3);
      const second = value.charCodeAt(index - 2);
      const third = value.charCodeAt(index - 1);
      const fourth = value.charCodeAt(index);
      all |= first | second | third | fourth;
      this.word((first << 24) | (second << 16) | (third << 8) | fourth);
    }
    for (index -= 3; index < length; index++) {
      const last = value.charCodeAt(index);
      all |= last;
      this.word(last);
    }
    if (all < 0x80) return;
    this.left = left;
    this.right = right;
    this.bytes(utf8Bytes(value));
  }

  hex(value: string): void {
    const { length } = value;
    this.word(length);
    const head = Math.min(length, HEX_HEAD);
    for (let index = 1; index < head; index += 2)
      this.word((value.charCodeAt(index - 1) << 16) | value.charCodeAt(index));
    for (let index = Math.max(head, length - HEX_TAIL); index < length; index++) this.word(value.charCodeAt(index));
  }

  /** Fields come in one order and their count was mixed, so their numbers say nothing more. */
  field(): void {}

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

  get first(): number {
    return finished(this.left ^ (this.right >>> 7));
  }

  get second(): number {
    return finished((this.right + Math.imul(this.left, 3)) | 0);
  }

  /** 16 hexadecimal characters, made at once: a text joined of parts is copied and hashed again wherever it is looked up. */
  get hash(): string {
    const { first, second } = this;
    return String.fromCharCode(
      digitAt(first, 28),
      digitAt(first, 24),
      digitAt(first, 20),
      digitAt(first, 16),
      digitAt(first, 12),
      digitAt(first, 8),
      digitAt(first, 4),
      digitAt(first, 0),
      digitAt(second, 28),
      digitAt(second, 24),
      digitAt(second, 20),
      digitAt(second, 16),
      digitAt(second, 12),
      digitAt(second, 8),
      digitAt(second, 4),
      digitAt(second, 0),
    );
  }
}
