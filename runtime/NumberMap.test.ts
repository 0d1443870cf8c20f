import { describe, expect, it } from "vitest";
import { NumberMap } from "./NumberMap.ts";

/** Numbers up to 2^52 that look random, the same in every run. */
const numbers = (seed: number): (() => number) => {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  return () => (next() % 2 ** 20) * 2 ** 32 + next() + 1;
};

describe("a map of many numbers", () => {
  it("holds what was added and not deleted, while it grows and shrinks", () => {
    const map = new NumberMap();
    const model = new Map<number, number>();
    const draw = numbers(1);
    const drawn: Array<number> = [];
    for (let turn = 0; turn < 60_000; turn++) {
      // More is added than deleted in the first half.
      const isAdded = draw() % 8 < (turn < 30_000 ? 6 : 2);
      const number = isAdded ? draw() : (drawn[draw() % drawn.length] ?? 1);
      if (isAdded) drawn.push(number);
      if (isAdded) expect(map.set(number, (turn % 7) + 1)).toBe(!model.has(number));
      else expect(map.delete(number)).toBe(model.has(number));
      if (isAdded) model.set(number, (turn % 7) + 1);
      else model.delete(number);
      const asked = drawn[draw() % drawn.length] ?? 1;
      expect(map.get(asked)).toBe(model.get(asked) ?? 0);
    }
    expect(map.size).toBe(model.size);
    for (const number of drawn) expect(map.get(number)).toBe(model.get(number) ?? 0);
    for (let turn = 0; turn < 10_000; turn++) expect(map.get(draw())).toBe(0);
    const all = new Map<number, number>();
    map.forEach((number, value) => all.set(number, value));
    expect(all).toEqual(model);
    const grown = new NumberMap(map.size);
    for (const [number, value] of all) grown.set(number, value);
    for (const number of drawn) expect(grown.get(number)).toBe(model.get(number) ?? 0);
  });

  it("takes a number twice as once, and again after it was deleted", () => {
    const map = new NumberMap();
    for (const number of [1, 2 ** 52, 1]) map.set(number, 2);
    expect([map.size, map.get(1) > 0, map.get(2 ** 52) > 0, map.get(2 ** 52 - 1) > 0]).toEqual([2, true, true, false]);
    for (const number of [1, 1, 7]) map.delete(number);
    expect([map.size, map.get(1) > 0, map.get(2 ** 52) > 0]).toEqual([1, false, true]);
    map.set(1, 3);
    expect([map.size, map.get(1) > 0]).toEqual([2, true]);
  });

  it("keeps apart numbers that belong in the same place", () => {
    const map = new NumberMap();
    const alike = Array.from({ length: 40 }, (_, index) => (index + 1) * 2 ** 32 + 5);
    for (const number of alike) map.set(number, 1);
    for (const number of alike.slice(0, 20)) map.delete(number);
    expect(alike.map((number) => map.get(number) > 0)).toEqual(alike.map((_, index) => index >= 20));
  });

  it("stays whole where rows come and go for ever", () => {
    const map = new NumberMap();
    const draw = numbers(2);
    const waiting = Array.from({ length: 100 }, draw);
    for (const number of waiting) map.set(number, 1);
    for (let turn = 0; turn < 50_000; turn++) {
      const [gone, come] = [waiting.shift() ?? 1, draw()];
      map.delete(gone);
      map.set(come, 1);
      waiting.push(come);
      expect(map.get(gone) > 0).toBe(false);
    }
    expect(waiting.every((number) => map.get(number) > 0)).toBe(true);
    expect(map.size).toBe(waiting.length);
  });
});
