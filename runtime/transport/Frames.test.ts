import { describe, expect, it } from "vitest";
import { frameHeader, type FrameHeader, FrameReader, nextExchange } from "./Frames.ts";

const frame = (kind: number, exchange: number, body: ReadonlyArray<number>): ReadonlyArray<number> => [
  ...frameHeader({ kind, exchange, length: body.length }),
  ...body,
];

const reading = ({ most = 100, room = 100 } = {}) => {
  const seen: Array<readonly [number, number, ReadonlyArray<number> | undefined]> = [];
  const reader = new FrameReader({
    begun: ({ length }: FrameHeader) => (length > most ? "too long" : undefined),
    grown: ({ length }) => length <= room,
    complete: ({ kind, exchange }, body) => void seen.push([kind, exchange, body && [...body]]),
  });
  return { reader, seen };
};

const three = [...frame(1, 1, [7, 8, 9]), ...frame(2, 0xffffffff, []), ...frame(3, 3, [1])];
const asSeen = [
  [1, 1, [7, 8, 9]],
  [2, 0xffffffff, []],
  [3, 3, [1]],
];

describe("frames", () => {
  it("are the same wherever the bytes are cut", () => {
    for (let first = 0; first <= three.length; first++)
      for (let second = first; second <= three.length; second++) {
        const { reader, seen } = reading();
        for (const part of [three.slice(0, first), three.slice(first, second), three.slice(second)])
          expect(reader.push(Uint8Array.from(part))).toBeUndefined();
        expect([seen, reader.isAmidst]).toEqual([asSeen, false]);
      }
  });

  it("that come in pieces keep none of these", () => {
    const { reader, seen } = reading();
    const piece = new Uint8Array(1);
    for (const byte of three) {
      piece[0] = byte;
      reader.push(piece);
    }
    expect(seen).toEqual(asSeen);
  });

  it("that may not come end the stream, and nothing behind them is read", () => {
    const { reader, seen } = reading({ most: 2 });
    expect(reader.push(Uint8Array.from(three))).toBe("too long");
    expect(reader.push(Uint8Array.from(frame(3, 3, [1])))).toBe("too long");
    expect(seen).toEqual([]);
  });

  it("without room are read and thrown away, and the next one is not", () => {
    const { reader, seen } = reading({ room: 2 });
    for (const byte of three) reader.push(Uint8Array.of(byte));
    expect(seen).toEqual([[1, 1, undefined], asSeen[1], asSeen[2]]);
  });

  it("tell when one has begun", () => {
    const { reader } = reading();
    expect(reader.isAmidst).toBe(false);
    reader.push(Uint8Array.from(three.slice(0, 4)));
    expect(reader.isAmidst).toBe(true);
    reader.push(Uint8Array.from(three.slice(4, 11)));
    expect(reader.isAmidst).toBe(true);
  });

  it("share no memory with what a Buffer is cut into", () => {
    let body: Uint8Array | undefined;
    const reader = new FrameReader({
      begun: () => undefined,
      grown: () => true,
      complete: (_header, whole) => void (body = whole),
    });
    reader.push(Buffer.from(frame(1, 1, [4, 5])));
    expect(body?.constructor).toBe(Uint8Array);
  });
});

it("numbers of exchanges wrap", () => {
  expect([nextExchange(0), nextExchange(7), nextExchange(0xffffffff)]).toEqual([1, 8, 1]);
});
