import { describe, expect, it } from "vitest";
import { type Allowance, isUsedUp, used, useOf } from "./Allowance.ts";

const OF: Allowance = { atOnce: 3, millis: 100 };
const START = 1_000;

/** When all is back after so many uses at once. */
const after = (uses: number): number | undefined =>
  Array.from({ length: uses }).reduce<number | undefined>((until) => used(until, START, OF), undefined);

describe("an allowance", () => {
  it("lasts for as many as it has at once, and comes back one by one", () => {
    expect([0, 1, 2, 3].map((uses) => isUsedUp(after(uses), START, OF))).toEqual([false, false, false, true]);
    expect([99, 100].map((passed) => isUsedUp(after(3), START + passed, OF))).toEqual([true, false]);
    expect(isUsedUp(used(after(3), START + 100, OF), START + 100, OF)).toBe(true);
  });

  it("is whole again after a long time, and never more than that", () => {
    const later = START + 10_000;
    expect(isUsedUp(after(3), later, OF, 3)).toBe(false);
    expect(isUsedUp(after(3), later, OF, 4)).toBe(true);
    expect(used(after(3), later, OF)).toBe(later + 100);
  });

  it("is each name's own; names that have all of it are forgotten first, then the one used longest ago", () => {
    const names = new Map<string, number>();
    const use = (name: string, now: number): void => useOf(names, name, now, OF, 2);
    use("one", START);
    use("two", START);
    use("one", START);
    use("three", START);
    expect([...names.keys()]).toEqual(["one", "three"]);
    use("four", START + 150);
    expect([...names]).toEqual([
      ["one", START + 200],
      ["four", START + 250],
    ]);
  });
});
