/**
 * Rows in fewer bytes, each by itself: what is one of the phrases that rows have in common (Phrases.ts), what is in the
 * row's key and what the row repeats is named by its place, and hex digits take half a byte. A row in this form says its
 * length first, of at most {@link LONGEST} bytes; any other lies there as it is.
 *
 * A part begins with one byte. 0 to 63: so many bytes and one follow as they are. 64 to 127: of so many less 63 bytes
 * that follow, each stands for two digits. From 128: three bits of length and, with the next byte, twelve of the place
 * in phrases, key and row, in this order; a third byte continues the largest length.
 */
import { phrases } from "./Phrases.ts";

/** The first byte of what lies there. Phrases never change; others will have another number here. */
const WHOLE = 0;
const PHRASED = 1;
const HEADER_BYTES = 3;

/** Of the rows that are many, none is longer. */
const LONGEST = 16_384;
const LONGEST_KEY = 512;
/** A place is named in twelve bits. */
const PLACES = 4096;
const RUN = 64;
const DIGITS_RUN = 64;
const MATCH = 128;
const SHORTEST_MATCH = 4;
const CONTINUED = 7;
const LONGEST_MATCH = SHORTEST_MATCH + CONTINUED + 255;
/** Fewer would save nothing where what is beside them is as it is. */
const FEWEST_DIGITS = 8;

const NOTHING = new Uint8Array(0);

/** Phrases, then key and row: used by one call at a time. */
const history = new Uint8Array(phrases.length + LONGEST_KEY + LONGEST);
history.set(phrases);
const keyText = Buffer.from(history.buffer, phrases.length, LONGEST_KEY);

const HASHES = 4096;
/** Of the four bytes at a place. */
const hashAt = (at: number): number =>
  Math.imul(
    ((history[at] ?? 0) << 24) |
      ((history[at + 1] ?? 0) << 16) |
      ((history[at + 2] ?? 0) << 8) |
      (history[at + 3] ?? 0),
    0x9e3779b1,
  ) >>> 20;

/** By hash, the last place with it among the phrases, plus one. */
const phrasePlaces = new Uint16Array(HASHES);
for (let at = 0; at + SHORTEST_MATCH <= phrases.length; at++) phrasePlaces[hashAt(at)] = at + 1;
const places = new Uint16Array(HASHES);

const DIGITS = Buffer.from("0123456789abcdef", "latin1");
/** The value of a digit by its byte; of others -1. */
const valueOf = Int8Array.from({ length: 256 }, (_, byte) => DIGITS.indexOf(byte));
const digit = (at: number): number => valueOf[history[at] ?? 0] ?? -1;

/** What a row may have of its key: the bytes of which it is the digits, or its text. Gives where the row begins. */
const setKey = (key: string): number => {
  const isHex = key.length % 2 === 0 && /^[0-9a-f]+$/.test(key);
  return phrases.length + keyText.write(key, isHex ? "hex" : "latin1");
};

const whole = (row: Uint8Array): Uint8Array => {
  const form = new Uint8Array(1 + row.length);
  form.set(row, 1);
  return form;
};

const matchLength = (at: number, place: number, end: number): number => {
  const most = Math.min(LONGEST_MATCH, end - at);
  let size = 0;
  while (size < most && history[place + size] === history[at + size]) size++;
  return size;
};

const digitsFrom = (at: number, end: number): number => {
  const last = Math.min(end, at + 2 * RUN);
  let to = at;
  while (to < last && digit(to) >= 0) to++;
  return to - at;
};

/** The form of a row under its key: as it is where that is no longer. */
export const formOf = (key: string, row: Uint8Array): Uint8Array => {
  if (row.length > LONGEST || row.length <= HEADER_BYTES || key.length > LONGEST_KEY) return whole(row);
  const start = setKey(key);
  history.set(row, start);
  const end = start + row.length;
  // So that a form does not depend on the one before.
  history.fill(0, end, end + SHORTEST_MATCH);
  places.set(phrasePlaces);
  for (let at = phrases.length; at < start; at++) places[hashAt(at)] = at + 1;
  // What is written behind its end, which is lost, makes it longer than the row.
  const form = new Uint8Array(row.length);
  form[0] = PHRASED;
  form[1] = row.length >> 8;
  form[2] = row.length & 0xff;
  let length = HEADER_BYTES;
  const spell = (from: number, to: number): void => {
    for (let at = from; at < to; at += RUN) {
      const size = Math.min(RUN, to - at);
      form[length++] = size - 1;
      for (let index = 0; index < size; index++) form[length++] = history[at + index] ?? 0;
    }
  };
  let spelled = start;
  /** Up to here there are too few digits. */
  let searched = start;
  for (let at = start; at < end && length < row.length; ) {
    const hash = hashAt(at);
    const place = (places[hash] ?? 0) - 1;
    const match = place < 0 ? 0 : matchLength(at, place, end);
    let run = 0;
    if (match < FEWEST_DIGITS && at >= searched && digit(at) >= 0) {
      run = digitsFrom(at, end);
      if (run < FEWEST_DIGITS) searched = at + run;
      run &= ~1;
    }
    if (match < SHORTEST_MATCH && run < FEWEST_DIGITS) {
      if (at < PLACES) places[hash] = at + 1;
      at++;
      continue;
    }
    spell(spelled, at);
    spelled = at + Math.max(match, run >= FEWEST_DIGITS ? run : 0);
    if (run >= FEWEST_DIGITS) {
      form[length++] = DIGITS_RUN + run / 2 - 1;
      for (let each = at; each < spelled; each += 2) form[length++] = (digit(each) << 4) | digit(each + 1);
    } else {
      const more = match - SHORTEST_MATCH;
      form[length++] = MATCH | (Math.min(more, CONTINUED) << 4) | (place >> 8);
      form[length++] = place & 0xff;
      if (more >= CONTINUED) form[length++] = more - CONTINUED;
    }
    for (; at < spelled; at++) if (at < PLACES) places[hashAt(at)] = at + 1;
  }
  spell(spelled, end);
  return length < row.length ? form.slice(0, length) : whole(row);
};

/**
 * The row of a form under its key. What no row is written as, and only a damaged file has, is a row of no bytes, whose
 * seal cannot hold.
 */
export const rowOf = (key: string, form: Uint8Array): Uint8Array => {
  if (form[0] === WHOLE) return new Uint8Array(form.buffer, form.byteOffset + 1, form.length - 1);
  const size = ((form[1] ?? 0) << 8) | (form[2] ?? 0);
  if (form[0] !== PHRASED || size > LONGEST) return NOTHING;
  const start = setKey(key);
  const end = start + size;
  let at = start;
  let next = HEADER_BYTES;
  while (next < form.length) {
    const part = form[next++] ?? 0;
    if (part < DIGITS_RUN) {
      const last = next + part + 1;
      if (last > form.length || at + part + 1 > end) return NOTHING;
      while (next < last) history[at++] = form[next++] ?? 0;
    } else if (part < MATCH) {
      const last = next + part - DIGITS_RUN + 1;
      if (last > form.length || at + 2 * (last - next) > end) return NOTHING;
      for (; next < last; next++) {
        const byte = form[next] ?? 0;
        history[at++] = DIGITS[byte >> 4] ?? 0;
        history[at++] = DIGITS[byte & 15] ?? 0;
      }
    } else {
      const more = (part >> 4) & CONTINUED;
      let place = ((part & 15) << 8) | (form[next++] ?? 0);
      const last = at + SHORTEST_MATCH + more + (more === CONTINUED ? (form[next++] ?? 0) : 0);
      if (next > form.length || place >= at || last > end) return NOTHING;
      while (at < last) history[at++] = history[place++] ?? 0;
    }
  }
  return at === end ? history.slice(start, end) : NOTHING;
};
