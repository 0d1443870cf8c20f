/** For tests: the edge cases of UTF-8 (Unicode table 3-7). */

const SECOND = [0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff];
const LATER = [0x7f, 0x80, 0xbf, 0xc0];

/** Every byte alone, and each from 128 on with up to three after it, on both sides of every bound. */
export const everyEdge = (): ReadonlyArray<Uint8Array> => {
  const leads = Array.from({ length: 256 }, (_, lead) => [lead]);
  const twos = leads.slice(0x80).flatMap((bytes) => SECOND.map((second) => [...bytes, second]));
  const threes = twos.flatMap((bytes) => LATER.map((third) => [...bytes, third]));
  const fours = threes.flatMap((bytes) => LATER.map((last) => [...bytes, last]));
  return [...leads, ...twos, ...threes, ...fours].map((bytes) => Uint8Array.from(bytes));
};
