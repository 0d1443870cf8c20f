/** Strings of a JSON text: runs of printable ASCII, escapes, and characters of more than one byte. */
import { BACKSLASH, END, isDigit, type JsonText, LONG_RUN, QUOTE, JsonRefusal, ZERO } from "./JsonText.ts";

/** 1 for bytes that stand for themselves in a string, each as one character: most of printable ASCII. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(byte >= 0x20 && byte < 0x80 && byte !== QUOTE && byte !== BACKSLASH),
);

/**
 * Short pieces of a text, joined so many code units at a time. Joined one by one they would become a chain as long as
 * the text, which costs forty bytes a character and is walked by the first reader. A string is read in one go, so all
 * readers share these.
 */
const units = new Uint16Array(1024);

/** What was read into {@link units}. A spread goes through them one by one, at five times the cost. */
const unitsText = (filled: number): string => Reflect.apply(String.fromCharCode, undefined, units.subarray(0, filled));

/** RFC 8259 section 7: by the byte after a backslash, the character it stands for; 0 where it stands for none. */
const shortEscapes = new Uint8Array(256);
shortEscapes[QUOTE] = QUOTE;
shortEscapes[BACKSLASH] = BACKSLASH;
shortEscapes[0x2f] = 0x2f;
shortEscapes[0x62] = 0x08;
shortEscapes[0x66] = 0x0c;
shortEscapes[0x6e] = 0x0a;
shortEscapes[0x72] = 0x0d;
shortEscapes[0x74] = 0x09;

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

const loneSurrogate = (start: number): JsonRefusal =>
  new JsonRefusal("lone_surrogate", `Half a surrogate pair is no character (byte ${start}).`);

/** Past every digit, in bits that no code unit has. */
const NO_DIGIT = 0x1_0000;

/** The value of a hexadecimal digit, {@link NO_DIGIT} for any other byte. */
const hexDigit = (byte: number): number => {
  if (isDigit(byte)) return byte - ZERO;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : NO_DIGIT;
};

/** The string whose opening quote is here. */
export const readString = (json: JsonText): string => {
  json.at += 1;
  const start = json.at;
  const end = runEnd(json);
  // Printable ASCII to the end, the common case, is one run.
  return end === QUOTE ? json.ascii(start, json.at++) : mixed(json, start);
};

/** The rest of a string whose first run of printable ASCII, from `start` to here, does not end at a quote. */
const mixed = (json: JsonText, start: number): string => {
  let text = "";
  let filled = 0;
  let runStart = start;
  for (;;) {
    const byte = runEnd(json);
    const length = json.at - runStart;
    // Room for a short run and for the longest character behind it.
    if (length >= LONG_RUN || filled + LONG_RUN + 2 > units.length) {
      text += unitsText(filled);
      filled = 0;
    }
    if (length >= LONG_RUN) text += json.ascii(runStart, json.at);
    else for (let index = 0; index < length; index += 1) units[filled++] = json.byte(runStart + index);
    if (byte === QUOTE) {
      json.at += 1;
      return text + unitsText(filled);
    }
    if (byte === END) throw json.unexpected("the end of a string");
    if (byte < 0x20) {
      throw new JsonRefusal("control_character", `A control character in a string must be escaped (byte ${json.at}).`);
    }
    const point = byte === BACKSLASH ? readEscape(json) : multibyte(json, byte);
    if (point > 0xffff) units[filled++] = 0xd7c0 + (point >> 10);
    units[filled++] = point > 0xffff ? 0xdc00 + (point & 0x3ff) : point;
    runStart = json.at;
  }
};

/** Advances to the next byte that is not printable ASCII, or is a quote or a backslash, and returns it. */
const runEnd = (json: JsonText): number => {
  const { bytes } = json;
  let { at } = json;
  // A read beyond the end would make every read of this loop slow.
  while (at < bytes.length && PLAIN[bytes[at] ?? QUOTE] === 1) at += 1;
  json.at = at;
  return json.byte(at);
};

/** The character of one escape sequence, or of two that make a surrogate pair. */
const readEscape = (json: JsonText): number => {
  const start = json.at;
  json.at += 1;
  const short = shortEscapes[json.here()] ?? 0;
  if (short !== 0) {
    json.at += 1;
    return short;
  }
  const unit = codeUnit(json, start);
  if (!isHighSurrogate(unit)) {
    if (isLowSurrogate(unit)) throw loneSurrogate(start);
    return unit;
  }
  if (json.here() !== BACKSLASH || json.byte(json.at + 1) !== 0x75) throw loneSurrogate(start);
  json.at += 1;
  const low = codeUnit(json, start);
  if (!isLowSurrogate(low)) throw loneSurrogate(start);
  return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
};

/** `uXXXX`, from the `u` on. */
const codeUnit = (json: JsonText, start: number): number => {
  const { at } = json;
  const high = (hexDigit(json.byte(at + 1)) << 4) | hexDigit(json.byte(at + 2));
  const low = (hexDigit(json.byte(at + 3)) << 4) | hexDigit(json.byte(at + 4));
  const unit = (high << 8) | low;
  if (json.here() !== 0x75 || unit >= NO_DIGIT)
    throw new JsonRefusal("invalid_escape", `Not an escape sequence of JSON (byte ${start}).`);
  json.at = at + 5;
  return unit;
};

/** One character of two to four bytes: exactly the well-formed sequences of Unicode table 3-7. */
const multibyte = (json: JsonText, lead: number): number => {
  const length = lead >= 0xc2 && lead <= 0xdf ? 2 : (lead & 0xf0) === 0xe0 ? 3 : (lead & 0xf8) === 0xf0 ? 4 : 0;
  let point = lead & (0xff >> (length + 1));
  let valid = length !== 0;
  for (let index = 1; valid && index < length; index += 1) {
    const byte = json.byte(json.at + index);
    valid = byte >= 0x80 && byte <= 0xbf;
    point = (point << 6) | (byte & 0x3f);
  }
  const shortest = length === 3 ? 0x800 : length === 4 ? 0x10000 : 0;
  if (!valid || point < shortest || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
    throw new JsonRefusal("invalid_utf8", `The bytes are not UTF-8 (byte ${json.at}).`);
  }
  json.at += length;
  return point;
};
