import { describe, expect, it } from "vitest";
import { numberKey, slotKey } from "./Tables.ts";

describe("keys of numbers", () => {
  it("are in the order of the numbers", () => {
    const numbers = [0, 1, 9, 10, 99, 100, 7_000_000, Number.MAX_SAFE_INTEGER];
    const keys = numbers.map(numberKey);
    expect(keys.toSorted()).toEqual(keys);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("name the slots of each epoch, in their order", () => {
    expect(slotKey(2, 3)).toBe("0000000000000002.0000000000000003");
    expect(slotKey(1, 10) < slotKey(2, 9)).toBe(true);
  });
});
