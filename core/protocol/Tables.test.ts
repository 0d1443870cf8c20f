import { describe, expect, it } from "vitest";
import { numberKey, slotKey } from "./Tables.ts";

describe("keys of numbers", () => {
  // More than are remembered, and all of them twice: most are made anew each time.
  const numbers = Array.from({ length: 20_000 }, (_, at) => 7_000_000 + at);

  it("are in the order of the numbers, and the same for the same number", () => {
    const keys = numbers.map(numberKey);
    expect(keys.toSorted()).toEqual(keys);
    expect(new Set(keys).size).toBe(keys.length);
    expect(numbers.map(numberKey)).toEqual(keys);
    expect(numberKey(9) < numberKey(10)).toBe(true);
  });

  it("name the slots of each epoch, whichever was asked for before", () => {
    const keys = [1, 2, 1].map((epoch) => slotKey(epoch, 3));
    expect(keys).toEqual([1, 2, 1].map((epoch) => `${numberKey(epoch)}.${numberKey(3)}`));
  });
});
