import { describe, expect, it } from "vitest";
import { coverageOf, ENOUGH_SEEDS, missingPoints, sometimes } from "./Sometimes.ts";

const mix = { schedule: undefined, isWhole: true } as const;
const none = { seeds: ENOUGH_SEEDS, tallies: [] };
const all = sometimes.map(({ name }) => [name, 1] as const);

describe("the points that a hunt must reach", () => {
  it("are forty at least, each named once", () => {
    expect(sometimes.length).toBeGreaterThanOrEqual(40);
    expect(new Set(sometimes.map(({ name }) => name)).size).toBe(sometimes.length);
  });

  it.each(sometimes)("turn a long hunt red where one is missing: $name", ({ name }) => {
    const marks = all.filter(([reached]) => reached !== name);
    const { isRed, lines } = coverageOf({ ...none, marks }, false, mix);
    expect([isRed, lines[0], lines.length]).toEqual([
      true,
      `${sometimes.length - 1} of ${sometimes.length} "sometimes" points reached`,
      2,
    ]);
    expect(lines[1]).toContain(`never: ${name} (`);
  });

  it("leave a hunt green that reached them all", () => {
    expect(coverageOf({ ...none, marks: all }, true, mix)).toMatchObject({ isRed: false });
    expect(missingPoints(all)).toEqual([]);
  });

  it("are only told of where the hunt is shorter or another one, unless they are required", () => {
    const marks = [...all.slice(1), ["a batch of several", 0] as const];
    expect(coverageOf({ ...none, seeds: ENOUGH_SEEDS - 1, marks }, false, mix).isRed).toBe(false);
    expect(coverageOf({ ...none, marks }, false, { ...mix, isWhole: false }).isRed).toBe(false);
    expect(coverageOf({ ...none, seeds: 1, marks }, true, { ...mix, isWhole: false })).toMatchObject({
      isRed: true,
      lines: [expect.stringMatching(/^\d+ of \d+/u), expect.stringContaining("never: a batch of several")],
    });
  });
});

describe("a hunt of one schedule", () => {
  const hunted = { schedule: "silent-preparer", isWhole: true } as const;
  const report = (met: number) => ({
    seeds: 40,
    marks: [],
    tallies: [{ schedule: "silent-preparer" as const, runs: 40, met: { "a vote was kept back": met } }],
  });

  it("is held to the marks of that schedule and to no points", () => {
    expect(coverageOf(report(20), false, hunted)).toMatchObject({ points: 0, missing: [], lines: [], isRed: false });
    const line = "a vote was kept back: in 19 of 40 runs of silent-preparer, less than one in 2";
    expect(coverageOf(report(19), false, hunted)).toMatchObject({
      seldom: [line],
      lines: [`  too seldom: ${line}`],
      isRed: true,
    });
  });

  it("is not held to them where other options change its runs, unless they are required", () => {
    const changed = { ...hunted, isWhole: false };
    expect(coverageOf(report(0), false, changed).isRed).toBe(false);
    expect(coverageOf(report(0), true, changed).isRed).toBe(true);
  });
});
