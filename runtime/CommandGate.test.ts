import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { later } from "../server/peer/MachineTime.ts";
import { CommandGate } from "./CommandGate.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MOST = 16;
const nextTurn = (): void => void vi.advanceTimersToNextTimer();

describe("the way of requests to the driver", () => {
  it("has room for so many, and leads on only as they are done", () => {
    const gate = new CommandGate(later, MOST);
    const inside: Array<{ readonly index: number; readonly consumed: () => void }> = [];
    for (let index = 0; index < 40; index += 1) gate.enter((consumed) => void inside.push({ index, consumed }));
    const indexes = () => inside.map((each) => each.index);
    expect(vi.getTimerCount()).toBe(0);
    expect([indexes(), gate.size]).toEqual([Array.from({ length: MOST }, (_, index) => index), 24]);
    for (const { consumed } of inside.splice(0, 2)) consumed();
    expect(gate.size).toBe(24);
    nextTurn();
    expect([indexes().slice(-2), gate.size]).toEqual([[16, 17], 22]);
  });

  it("takes as many in one turn where each is done at once", () => {
    const gate = new CommandGate(later, MOST);
    const blocked: Array<() => void> = [];
    for (let index = 0; index < MOST; index += 1) gate.enter((consumed) => void blocked.push(consumed));
    let done = 0;
    for (let index = 0; index < 40; index += 1)
      gate.enter((consumed) => {
        done += 1;
        consumed();
      });
    for (const consumed of blocked) consumed();
    expect(done).toBe(0);
    nextTurn();
    expect(done).toBe(MOST);
    nextTurn();
    expect(done).toBe(2 * MOST);
    nextTurn();
    expect([done, gate.size, vi.getTimerCount()]).toEqual([40, 0, 0]);
  });
});
