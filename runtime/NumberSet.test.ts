import { describe, expect, it } from "vitest";
import { NumberSet } from "./NumberSet.ts";

/** Numbers up to 2^52 that look random, the same in every run. */
const numbers = (seed: number): (() => number) => {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  return () => (next() % 2 ** 20) * 2 ** 32 + next() + 1;
};

describe("a set of many numbers", () => {
  it("holds what was added and not deleted, while it grows and shrinks", () => {
    const set = new NumberSet();
    const model = new Set<number>();
    const draw = numbers(1);
    const drawn: Array<number> = [];
    for (let turn = 0; turn < 60_000; turn++) {
      // More is added than deleted in the first half.
      const isAdded = draw() % 8 < (turn < 30_000 ? 6 : 2);
      const number = isAdded ? draw() : (drawn[draw() % drawn.length] ?? 1);
      if (isAdded) drawn.push(number);
      set[isAdded ? "add" : "delete"](number);
      model[isAdded ? "add" : "delete"](number);
      const asked = drawn[draw() % drawn.length] ?? 1;
      expect(set.has(asked)).toBe(model.has(asked));
    }
    expect(set.size).toBe(model.size);
    for (const number of drawn) expect(set.has(number)).toBe(model.has(number));
    for (let turn = 0; turn < 10_000; turn++) expect(set.has(draw())).toBe(false);
  });

  it("takes a number twice as once, and again after it was deleted", () => {
    const set = new NumberSet();
    for (const number of [1, 2 ** 52, 1]) set.add(number);
    expect([set.size, set.has(1), set.has(2 ** 52), set.has(2 ** 52 - 1)]).toEqual([2, true, true, false]);
    for (const number of [1, 1, 7]) set.delete(number);
    expect([set.size, set.has(1), set.has(2 ** 52)]).toEqual([1, false, true]);
    set.add(1);
    expect([set.size, set.has(1)]).toEqual([2, true]);
  });

  it("keeps apart numbers that belong in the same place", () => {
    const set = new NumberSet();
    const alike = Array.from({ length: 40 }, (_, index) => (index + 1) * 2 ** 32 + 5);
    for (const number of alike) set.add(number);
    for (const number of alike.slice(0, 20)) set.delete(number);
    expect(alike.map((number) => set.has(number))).toEqual(alike.map((_, index) => index >= 20));
  });

  it("stays whole where rows come and go for ever", () => {
    const set = new NumberSet();
    const draw = numbers(2);
    const waiting = Array.from({ length: 100 }, draw);
    for (const number of waiting) set.add(number);
    for (let turn = 0; turn < 50_000; turn++) {
      const [gone, come] = [waiting.shift() ?? 1, draw()];
      set.delete(gone);
      set.add(come);
      waiting.push(come);
      expect(set.has(gone)).toBe(false);
    }
    expect(waiting.every((number) => set.has(number))).toBe(true);
    expect(set.size).toBe(waiting.length);
  });
});
