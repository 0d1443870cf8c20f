import { describe, expect, it } from "vitest";
import { coverageOf, ENOUGH_SEEDS, missingPoints, sometimes } from "./Sometimes.ts";

const all = sometimes.map(({ name }) => [name, 1] as const);

describe("the points that a hunt must reach", () => {
  it("are forty at least, each named once", () => {
    expect(sometimes.length).toBeGreaterThanOrEqual(40);
    expect(new Set(sometimes.map(({ name }) => name)).size).toBe(sometimes.length);
  });

  it.each(sometimes)("turn a long hunt red where one is missing: $name", ({ name }) => {
    const marks = all.filter(([reached]) => reached !== name);
    const { isRed, lines } = coverageOf({ seeds: ENOUGH_SEEDS, marks }, false, true);
    expect([isRed, lines[0], lines.length]).toEqual([
      true,
      `${sometimes.length - 1} of ${sometimes.length} "sometimes" points reached`,
      2,
    ]);
    expect(lines[1]).toContain(`never: ${name} (`);
  });

  it("leave a hunt green that reached them all", () => {
    expect(coverageOf({ seeds: ENOUGH_SEEDS, marks: all }, true, true)).toMatchObject({ isRed: false });
    expect(missingPoints(all)).toEqual([]);
  });

  it("are only told of where the hunt is shorter or another one, unless they are required", () => {
    const marks = [...all.slice(1), ["a batch of several", 0] as const];
    expect(coverageOf({ seeds: ENOUGH_SEEDS - 1, marks }, false, true).isRed).toBe(false);
    expect(coverageOf({ seeds: ENOUGH_SEEDS, marks }, false, false).isRed).toBe(false);
    expect(coverageOf({ seeds: 1, marks }, true, false)).toMatchObject({
      isRed: true,
      lines: [expect.stringMatching(/^\d+ of \d+/u), expect.stringContaining("never: a batch of several")],
    });
  });
});
