import { describe, expect, it } from "vitest";
import { AddressBudget, NEW_AGAIN_MILLIS } from "./AddressBudget.ts";

const bounds = { ofAddress: { most: 3, millis: 100 }, all: { most: 5, millis: 10, mostOfNew: 6 } };

const budget = () => {
  const clock = { now: 0 };
  const of = new AddressBudget(bounds, () => clock.now);
  const takes = (address: string, times: number): number =>
    Array.from({ length: times }, () => of.take(address)).filter(Boolean).length;
  return { clock, of, takes };
};

describe("what may be taken before anything vouches for it", () => {
  it("is so much of one address, and comes back one by one, whatever others take", () => {
    const { clock, takes } = budget();
    expect([takes("first", 9), takes("second", 1)]).toEqual([3, 1]);
    clock.now += 99;
    expect([takes("first", 9), takes("second", 1)]).toEqual([0, 1]);
    clock.now += 1;
    expect(takes("first", 9)).toBe(1);
    clock.now += 1_000;
    expect(takes("first", 9)).toBe(3);
  });

  it("is so much of all, of which the last is for those that have taken nothing of late", () => {
    const { clock, takes } = budget();
    expect([takes("first", 3), takes("second", 3), takes("second", 1), takes("third", 1)]).toEqual([3, 2, 0, 1]);
    clock.now += 10;
    expect([takes("second", 1), takes("third", 1), takes("fourth", 1)]).toEqual([0, 0, 1]);
    clock.now += NEW_AGAIN_MILLIS + 400;
    expect([takes("third", 3), takes("fourth", 2), takes("second", 2)]).toEqual([3, 2, 1]);
  });

  it("may be spent beyond that, and is then missing", () => {
    const { clock, of, takes } = budget();
    for (let times = 0; times < 4; times++) of.spend("first");
    expect(of.has("first")).toBe(false);
    clock.now += 100;
    expect(takes("first", 1)).toBe(0);
    clock.now += 100;
    expect(takes("first", 2)).toBe(1);
  });
});
