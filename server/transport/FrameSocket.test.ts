import { Duplex } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { frameHeader } from "../../runtime/transport/Frames.ts";
import { FrameSocket } from "./FrameSocket.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** A socket whose other side takes no bytes until it is told to. */
const stalled = () => {
  const writes: Array<number> = [];
  const taken: Array<() => void> = [];
  const socket = new Duplex({
    read: () => undefined,
    writev: (chunks, done) => {
      writes.push(chunks.length);
      taken.push(done);
    },
  });
  const told: Array<string> = [];
  const bodies: Array<number | undefined> = [];
  const frames = new FrameSocket(socket, {
    begun: () => undefined,
    grown: () => true,
    complete: (_header, body) => void bodies.push(body?.length),
    closed: () => void told.push("closed"),
    refused: (why) => void told.push(why),
    cut: (why) => void told.push(why),
    writeMillis: 1_000,
  });
  frames.start(new Uint8Array(0));
  return { socket, frames, writes, taken, told, bodies };
};

const turn = (): Promise<unknown> => new Promise((resolve) => void setImmediate(resolve));
const header = { kind: 1, exchange: 1, length: 20_000 };

describe("a connection that carries frames", () => {
  it("writes what comes without a pause at once", async () => {
    const { frames, writes } = stalled();
    for (const length of [3, 0, 2]) frames.write({ ...header, length }, new Uint8Array(length));
    await turn();
    expect(writes).toEqual([5]);
  });

  it("cuts off a side that stops in the middle of a frame, and none that goes on", async () => {
    const { socket, told, bodies } = stalled();
    for (let count = 0; count < 3; count++) {
      socket.push(frameHeader({ ...header, length: 2 }));
      await turn();
      vi.advanceTimersByTime(9_999);
      socket.push(new Uint8Array(2));
      await turn();
    }
    vi.advanceTimersByTime(60_000);
    expect([told, bodies]).toEqual([[], [2, 2, 2]]);
    socket.push(frameHeader(header).subarray(0, 5));
    await turn();
    vi.advanceTimersByTime(9_999);
    socket.push(frameHeader(header).subarray(5));
    await turn();
    // 20,000 bytes at 16 a millisecond.
    vi.advanceTimersByTime(11_249);
    await turn();
    expect(told).toEqual([]);
    vi.advanceTimersByTime(1);
    await turn();
    expect(told).toEqual(["slow sender", "closed"]);
  });

  it("cuts off a side that reads nothing, and none that reads slowly", async () => {
    const { frames, taken, told } = stalled();
    for (let count = 0; count < 2; count++) {
      frames.write(header, new Uint8Array(header.length));
      await turn();
      vi.advanceTimersByTime(2_249);
      for (const done of taken.splice(0)) done();
      await turn();
    }
    expect(told).toEqual([]);
    frames.write(header, new Uint8Array(header.length));
    await turn();
    vi.advanceTimersByTime(2_251);
    await turn();
    expect(told).toEqual(["slow reader", "closed"]);
  });
});
