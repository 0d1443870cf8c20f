import { describe, expect, it } from "vitest";
import { CommandGate } from "./CommandGate.ts";

const turnOfTheLoop = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** So many requests at a gate, and those that have reached the driver, each with what ends its step. */
const crowd = (count: number) => {
  const gate = new CommandGate();
  const inside: Array<{ readonly index: number; readonly consumed: () => void }> = [];
  for (let index = 0; index < count; index += 1) gate.enter((consumed) => void inside.push({ index, consumed }));
  return { gate, inside, indexes: () => inside.map((each) => each.index) };
};

describe("the way of requests to the driver", () => {
  it("has room for sixteen, and leads on only as they are done", async () => {
    const { gate, inside, indexes } = crowd(40);
    await turnOfTheLoop();
    expect([indexes(), gate.size]).toEqual([Array.from({ length: 16 }, (_, index) => index), 24]);
    for (const { consumed } of inside.splice(0, 2)) consumed();
    expect(gate.size).toBe(24);
    await turnOfTheLoop();
    expect([indexes().slice(-2), gate.size]).toEqual([[16, 17], 22]);
  });

  it("takes sixteen in one turn of the event loop where each is done at once", async () => {
    const gate = new CommandGate();
    const blocked: Array<() => void> = [];
    for (let index = 0; index < 16; index += 1) gate.enter((consumed) => void blocked.push(consumed));
    let done = 0;
    for (let index = 0; index < 40; index += 1)
      gate.enter((consumed) => {
        done += 1;
        consumed();
      });
    for (const consumed of blocked) consumed();
    expect(done).toBe(0);
    await turnOfTheLoop();
    expect(done).toBe(16);
    await turnOfTheLoop();
    expect(done).toBe(32);
    await turnOfTheLoop();
    expect([done, gate.size]).toEqual([40, 0]);
  });
});
