import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { later } from "../server/peer/MachineTime.ts";
import { CommandGate } from "./CommandGate.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MOST = 16;
const nextTurn = (): void => void vi.advanceTimersToNextTimer();

/** A gate, and what became of the requests of its callers. */
const open = (places: number, inside = MOST) => {
  const gate = new CommandGate(later, { inside, places });
  const entered: Array<string> = [];
  const turnedAway: Array<string> = [];
  const done: Array<() => void> = [];
  const ask = (caller: string, name: string): (() => void) =>
    gate.enter(
      caller,
      (consumed) => {
        entered.push(name);
        done.push(consumed);
      },
      () => void turnedAway.push(name),
    );
  const askAll = (caller: string, count: number): void => {
    for (let index = 0; index < count; index += 1) ask(caller, `${caller}${index}`);
  };
  /** Lets the driver be done with so many, and then have as many more. */
  const serve = (count: number): void => {
    for (const consumed of done.splice(0, count)) consumed();
    nextTurn();
  };
  return { gate, entered, turnedAway, ask, askAll, serve };
};

describe("the way of requests to the driver", () => {
  it("has room for so many, and leads on only as they are done", () => {
    const { gate, entered, askAll, serve } = open(100);
    askAll("a", 40);
    expect(vi.getTimerCount()).toBe(0);
    expect([entered, gate.size]).toEqual([Array.from({ length: MOST }, (_, index) => `a${index}`), 24]);
    serve(2);
    expect([entered.slice(-2), gate.size]).toEqual([["a16", "a17"], 22]);
  });

  it("takes as many in one turn where each is done at once", () => {
    const { gate, askAll, serve } = open(100);
    askAll("a", MOST);
    let done = 0;
    for (let index = 0; index < 40; index += 1)
      gate.enter(
        "a",
        (consumed) => {
          done += 1;
          consumed();
        },
        () => undefined,
      );
    expect(done).toBe(0);
    serve(MOST);
    expect(done).toBe(MOST);
    nextTurn();
    expect(done).toBe(2 * MOST);
    nextTurn();
    expect([done, gate.size, vi.getTimerCount()]).toEqual([40, 0, 0]);
  });

  it("serves callers in turn, each in the order of its requests", () => {
    const { entered, ask, askAll, serve } = open(100, 1);
    askAll("a", 4);
    askAll("b", 2);
    ask("c", "c0");
    for (let count = 0; count < 6; count += 1) serve(1);
    expect(entered).toEqual(["a0", "a1", "b0", "c0", "a2", "b1", "a3"]);
  });
});

describe("a gate whose places are taken", () => {
  it("turns away whoever holds most, its newest first, and takes a newcomer", () => {
    const { gate, turnedAway, askAll, ask } = open(8, 1);
    askAll("flood", 12);
    expect([turnedAway, gate.size]).toEqual([["flood9", "flood10", "flood11"], 8]);
    ask("b", "b0");
    ask("c", "c0");
    expect([turnedAway.slice(3), gate.size]).toEqual([["flood8", "flood7"], 8]);
  });

  it("comes to equal shares, and keeps no more names than places however many callers there are", () => {
    const { gate, turnedAway, askAll, ask } = open(4, 1);
    askAll("a", 9);
    askAll("b", 9);
    expect(turnedAway.filter((name) => name.startsWith("a"))).toEqual(["a5", "a6", "a7", "a8", "a4", "a3"]);
    for (let index = 0; index < 50; index += 1) ask(`caller ${index}`, `request ${index}`);
    expect(gate.size).toBe(4);
    // With one place each, whoever comes holds as much as any.
    expect(turnedAway.at(-1)).toBe("request 49");
  });

  it("has a place again when one is given up, and does not lead in whoever has given up", () => {
    const { gate, entered, turnedAway, ask, serve } = open(2, 1);
    ask("a", "a0");
    const leave = ask("a", "a1");
    ask("b", "b0");
    leave();
    leave();
    expect(gate.size).toBe(1);
    ask("c", "c0");
    serve(1);
    serve(1);
    serve(1);
    expect([entered, turnedAway, gate.size]).toEqual([["a0", "b0", "c0"], [], 0]);
  });
});
