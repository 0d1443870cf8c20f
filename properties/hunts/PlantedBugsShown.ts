/** Every checker catches a bug that was put in for it; none complains about the same seeds without. */
import { describe, expect, it } from "vitest";
import { isFoundAs, type PlantedBug } from "../../sim/bugs/PlantedBug.ts";
import { plantedBugOptions, plantedBugs } from "../../sim/bugs/PlantedBugs.ts";
import { type RunResult, runSeed } from "../../sim/run/Simulation.ts";

const SEEDS = 40;
/** One bug needs five thousand callers, which takes half a minute of a processor that may have other work. */
const MOST_MILLIS = 240_000;

const run = (where: PlantedBug, seed: number, bug?: PlantedBug): RunResult =>
  runSeed(plantedBugOptions(where, seed), { tampering: bug?.tampering() });

const clean = new Map<string, RunResult["violation"]>();

/** What the same seed breaks without the bug; many bugs are planted in the same runs. */
const brokenWithout = (where: PlantedBug, seed: number): RunResult["violation"] => {
  const name = JSON.stringify(plantedBugOptions(where, seed));
  if (!clean.has(name)) clean.set(name, run(where, seed).violation);
  return clean.get(name);
};

/** The first of a few seeds in which the bug shows. The test runner has its turn between any two. */
const findIn = async (bug: PlantedBug): Promise<RunResult | undefined> => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const result = run(bug, seed, bug);
    if (result.violation !== undefined) return result;
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
  return undefined;
};

/** The rule that a liveness invariant tells, and how members stand to it: votes, or what they have and wait for. */
const told: Readonly<Record<string, ReadonlyArray<RegExp>>> = {
  L1: [/RECEIPT|REFUSAL/, /every receipt makes it apply|with one faulty member in quarantine/],
  L2: [/leaves nothing behind/, /peer \d still/],
  L3: [/so that all roots are equal/, /the last change, proposal [0-9a-f]+: peer 1 .*; peer 2 |they have revisions/],
  L5: [
    /everything was healed, (?:and a|damaged disks) |quarantine|lost or faulty|was wiped/,
    /peer \d (?:is out|active|founding|recovering)|the last batch/,
  ],
  L9: [/members agree on its end: peer 1 /, /still gives [A-Z_]+ \(.*\(by now peer 1 /],
  L10: [/is answered once, within 10 s|waits for \d+ µs/, /its proposal [0-9a-f]+: peer 1 |no proposal bears its name/],
  L11: [/is enough to read: peer \d active, root/, /the newest there: peer 1 /],
  L12: [/a change had gone through/, /gave \w+ after \d+/],
};

/** Shows it for one bug in so many: each file of tests has a processor for itself. */
export const showEvery = (of: number, from: number): void => {
  describe("the checkers", () => {
    const some = plantedBugs.filter((_, index) => index % of === from);
    it.each(some)("find $name under $finds", { timeout: MOST_MILLIS }, async (bug) => {
      const found = await findIn(bug);
      expect(isFoundAs(bug, found?.violation?.id), `it breaks ${found?.violation?.id}`).toBe(true);
      const { id = "", facts = [] } = found?.violation ?? {};
      expect(facts.every((fact) => fact.length > 0)).toBe(true);
      for (const words of told[id] ?? []) expect(facts.join("\n")).toMatch(words);
      expect(brokenWithout(bug, found?.seed ?? 1)).toBeUndefined();
    });
  });
};
