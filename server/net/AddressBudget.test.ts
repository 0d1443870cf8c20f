import { describe, expect, it } from "vitest";
import { AddressBudget } from "./AddressBudget.ts";

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
    clock.now += 60_000;
    expect([takes("third", 3), takes("fourth", 2), takes("second", 2)]).toEqual([3, 2, 1]);
  });

  it("is for those that have taken little of late while others take all they can", () => {
    const clock = { now: 0 };
    const wide = { ofAddress: { most: 8, millis: 100 }, all: { most: 16, millis: 10, mostOfNew: 32 } };
    const of = new AddressBudget(wide, () => clock.now);
    for (let at = 0; at < 400; at += 1) {
      clock.now += 5;
      for (const flooding of ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]) of.take(flooding);
    }
    const times = (address: string): number => [1, 2, 3, 4].filter(() => of.take(address)).length;
    expect(["one", "another", "a"].map(times)).toEqual([4, 4, 0]);
  });

  it("is not for many addresses that take one each in turn, before those that have taken none", () => {
    const clock = { now: 0 };
    const wide = { ofAddress: { most: 1_000, millis: 1 }, all: { most: 100, millis: 10, mostOfNew: 400 } };
    const of = new AddressBudget(wide, () => clock.now);
    for (let turn = 0; turn < 30_000; turn += 1) {
      clock.now += 1;
      of.take(`in turn ${turn % 100}`);
    }
    expect([of.take("in turn 0"), of.take("one that has taken none")]).toEqual([false, true]);
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
