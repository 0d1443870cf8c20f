/** Every checker catches a bug that was put in for it; none complains about the same seeds without. */
import { describe, expect, it } from "vitest";
import { checkerIds } from "../sim/checkers/Checkers.ts";
import { isFoundAs, type PlantedBug } from "../sim/bugs/PlantedBug.ts";
import { plantedBugOptions, plantedBugs } from "../sim/bugs/PlantedBugs.ts";
import { type RunResult, runSeed } from "../sim/run/Simulation.ts";

const SEEDS = 40;
/** One bug needs five thousand callers, which takes half a minute of a processor that may have other work. */
const MOST_MILLIS = 240_000;

const run = (where: PlantedBug, seed: number, bug?: PlantedBug): RunResult =>
  runSeed(plantedBugOptions(where, seed), { tampering: bug?.tampering() });

/** The first of a few seeds in which the bug shows. */
const findIn = (bug: PlantedBug): RunResult | undefined => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const result = run(bug, seed, bug);
    if (result.violation !== undefined) return result;
  }
  return undefined;
};

describe("the checkers", () => {
  it.each(plantedBugs)("find $name under $finds", { timeout: MOST_MILLIS }, (bug) => {
    const found = findIn(bug);
    expect(isFoundAs(bug, found?.violation?.id), `it breaks ${found?.violation?.id}`).toBe(true);
    expect(found?.violation?.facts.every((fact) => fact.length > 0)).toBe(true);
    expect(run(bug, found?.seed ?? 1).violation).toBeUndefined();
  });

  it("are each shown to work by at least one planted bug", () => {
    const shown = new Set(plantedBugs.map((bug) => bug.finds));
    expect(checkerIds.filter((id) => !shown.has(id))).toEqual([]);
  });
});
