/** DER for tests: tag, definite length, content (X.690 section 8.1). */
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";

export const der = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const content = concatBytes(...parts);
  const { length } = content;
  const header = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return concatBytes(Uint8Array.of(tag, ...header), content);
};

export const sequence = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => der(0x30, ...parts);
export const set = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => der(0x31, ...parts);
export const octets = (bytes: Uint8Array): Uint8Array => der(0x04, bytes);
export const bits = (bytes: Uint8Array): Uint8Array => der(0x03, Uint8Array.of(0), bytes);
export const boolean = (value: boolean): Uint8Array => der(0x01, Uint8Array.of(value ? 0xff : 0));
export const integer = (value: number): Uint8Array => der(0x02, Uint8Array.of(value));
export const utf8 = (text: string): Uint8Array => der(0x0c, utf8ToBytes(text));

/** An object identifier written with dots. */
export const oid = (dotted: string): Uint8Array => {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return der(0x06, Uint8Array.from([40 * first + second, ...rest].flatMap(base128)));
};

const base128 = (number: number): ReadonlyArray<number> => {
  const octets = [number & 0x7f];
  for (let rest = Math.floor(number / 128); rest > 0; rest = Math.floor(rest / 128))
    octets.unshift(0x80 | (rest & 0x7f));
  return octets;
};

/** An explicit context tag, also one above 30. */
export const tagged = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  if (tag < 31) return der(0xa0 | tag, ...parts);
  const short = der(0, ...parts);
  return concatBytes(Uint8Array.of(0xbf, ...base128(tag)), short.subarray(1));
};

/** UTCTime up to 2049, GeneralizedTime from then on (RFC 5280 section 4.1.2.5). */
export const time = (text: string): Uint8Array => der(text.length === 13 ? 0x17 : 0x18, utf8ToBytes(text));

/** A Name of one attribute a part. */
export const name = (...attributes: ReadonlyArray<readonly [type: string, text: string]>): Uint8Array =>
  sequence(...attributes.map(([type, text]) => set(sequence(oid(type), utf8(text)))));
