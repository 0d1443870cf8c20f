/**
 * Keys of rows in fewer bytes, in the same order: hex digits, of which most keys consist, take four or five bits and
 * other bytes ten or eleven, by a prefix code whose words are in the order of what they stand for. The last byte is
 * filled up with zeros, which are no whole word; so different keys have different packed forms, and the lesser key has
 * the lesser one. The words of the digits `1` to `9` and `b` to `e` are the digits.
 */

/** In front of six bits, which count the bytes below `0` from the first on. */
const BELOW = 0b00000;
/** In front of six bits, for what is above `9` and below `a`. */
const BETWEEN = 0b10100;
/** In front of five bits, for what is above `f`; the last of these precedes seven bits of what is not ASCII. */
const ABOVE = 0b11111;
const [ZERO, COLON, A, F] = [0x30, 0x3a, 0x61, 0x66];
const ASCII = 0x80;
const REST = 31;

interface Word {
  readonly bits: number;
  readonly length: number;
}

const wordOf = (byte: number): Word => {
  if (byte < ZERO) return { bits: (BELOW << 6) | byte, length: 11 };
  if (byte === ZERO) return { bits: 0b00001, length: 5 };
  if (byte < COLON) return { bits: byte - ZERO, length: 4 };
  if (byte < A) return { bits: (BETWEEN << 6) | (byte - COLON), length: 11 };
  if (byte === A) return { bits: 0b10101, length: 5 };
  if (byte < F) return { bits: byte - A + 10, length: 4 };
  if (byte === F) return { bits: 0b11110, length: 5 };
  if (byte < ASCII) return { bits: (ABOVE << 5) | (byte - F - 1), length: 10 };
  return { bits: (((ABOVE << 5) | REST) << 7) | (byte - ASCII), length: 17 };
};

const words = Array.from({ length: 256 }, (_, byte) => wordOf(byte));
const bitsOf = Uint32Array.from(words, ({ bits }) => bits);
const lengthOf = Uint8Array.from(words, ({ length }) => length);
const LONGEST_WORD = Math.max(...lengthOf);

/** By the next five bits: the byte of a word of four or five; -1 where one of the three above stands there. */
const shortWords = Int16Array.from({ length: 32 }, (_, next) =>
  words.findIndex(({ bits, length }) => length <= 5 && next >> (5 - length) === bits),
);

const PAIR_BITS = 10;
/** By the next ten bits, where they begin with two of those words: both bytes and then their bits; 0 elsewhere. */
const pairs = Uint32Array.from({ length: 1 << PAIR_BITS }, (_, next) => {
  const first = shortWords[next >> 5] ?? -1;
  const length = lengthOf[first] ?? 0;
  const second = shortWords[(next >> (5 - length)) & 31] ?? -1;
  return first < 0 || second < 0 ? 0 : ((length + (lengthOf[second] ?? 0)) << 16) | (second << 8) | first;
});

/** Of a key that a row may have. */
const LONGEST_KEY = 512;
/** A key while it is read: used by one call at a time. No word is shorter than four bits. */
const unpacked = Buffer.alloc(2 * Math.ceil((LONGEST_KEY * LONGEST_WORD) / 8));

/** The packed form of a key, and of any text in the order of UTF-8. */
export const packKey = (key: string): Uint8Array => {
  const bytes = Buffer.from(key, "utf8");
  const packed = new Uint8Array(((bytes.length * LONGEST_WORD) >> 3) + 1);
  let length = 0;
  let held = 0;
  let count = 0;
  for (const byte of bytes) {
    const size = lengthOf[byte] ?? 0;
    held = (held << size) | (bitsOf[byte] ?? 0);
    for (count += size; count >= 8; count -= 8) packed[length++] = held >> (count - 8);
    held &= 0xff;
  }
  if (count > 0) packed[length++] = held << (8 - count);
  return packed.slice(0, length);
};

/** The byte that a word of ten or eleven bits stands for, by its first five bits and the others. */
const longWord = (prefix: number, place: number): number => {
  const [first, last] = prefix === BELOW ? [0, ZERO - 1] : prefix === BETWEEN ? [COLON, A - 1] : [F + 1, ASCII - 1];
  if (first + place > last) throw new TypeError("a packed key has a word that stands for nothing");
  return first + place;
};

/** The key of a packed form. Throws a TypeError where it is none that {@link packKey} gives for a text of ASCII. */
export const unpackKey = (packed: Uint8Array): string => {
  if (2 * packed.length > unpacked.length) throw new TypeError("a packed key is longer than any");
  let length = 0;
  let at = 0;
  let held = 0;
  let count = 0;
  const take = (size: number): number => {
    if (size > count) throw new TypeError("a packed key ends inside a word");
    count -= size;
    const taken = held >> count;
    held &= (1 << count) - 1;
    return taken;
  };
  for (;;) {
    for (; count < LONGEST_WORD && at < packed.length; count += 8) held = (held << 8) | (packed[at++] ?? 0);
    const pair = count < PAIR_BITS ? 0 : (pairs[held >> (count - PAIR_BITS)] ?? 0);
    if (pair > 0) {
      unpacked[length++] = pair & 0xff;
      unpacked[length++] = (pair >> 8) & 0xff;
      count -= pair >> 16;
      held &= (1 << count) - 1;
      continue;
    }
    const next = count >= 5 ? held >> (count - 5) : held << (5 - count);
    const byte = shortWords[next] ?? -1;
    const size = byte < 0 ? Number.POSITIVE_INFINITY : (lengthOf[byte] ?? 0);
    if (size <= count) {
      count -= size;
      held &= (1 << count) - 1;
      unpacked[length++] = byte;
      continue;
    }
    if (held === 0 && count < 8) return unpacked.toString("latin1", 0, length);
    const prefix = take(5);
    unpacked[length++] = longWord(prefix, take(prefix === ABOVE ? 5 : 6));
  }
};
