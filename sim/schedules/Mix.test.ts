import { describe, expect, it } from "vitest";
import { runSeed } from "../run/Simulation.ts";
import { tapeOptions } from "../tape/Tape.ts";
import { scheduleOf } from "./Mix.ts";
import { scheduleNames } from "./Schedules.ts";

/** So many that the rarest, one in ten thousand, is among them. */
const SEEDS = 50_000;

/** How often each schedule is drawn. */
const countsOf = (seeds: number, peers?: number): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (let seed = 1; seed <= seeds; seed++) {
    const name = scheduleOf({ seed, peers });
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
};

describe("the default mix", () => {
  it("has every schedule, swarm in a quarter of all runs, that of keys in an eighth and none of the others in one of twenty-five", () => {
    const counts = countsOf(SEEDS);
    expect(scheduleNames.filter((name) => !counts.has(name))).toEqual([]);
    for (const [name, count] of counts)
      if (name === "swarm") expect(count / SEEDS).toBeCloseTo(0.244, 1);
      else if (name === "swarm-of-keys") expect(count / SEEDS).toBeCloseTo(0.122, 1);
      else expect(count).toBeLessThan(SEEDS / 25);
  });

  it("leaves out what needs more peers than there are", () => {
    expect(countsOf(2_000, 1).has("rollback-declared")).toBe(false);
    expect(countsOf(2_000, 3).has("restores-around-late-receipt")).toBe(false);
    expect(countsOf(2_000, 4).has("restores-around-late-receipt")).toBe(true);
  });

  it("is of swarm alone past the budget, and of what was asked for", () => {
    const seeds = Array.from({ length: 200 }, (_, index) => index + 1);
    expect(new Set(seeds.map((seed) => scheduleOf({ seed, mode: "past" })))).toEqual(new Set(["swarm"]));
    expect(new Set(seeds.map((seed) => scheduleOf({ seed, schedule: "calm" })))).toEqual(new Set(["calm"]));
  });

  it("gives the run that its schedule gives by name", () => {
    const steps = 60;
    for (const seed of [1, 2, 3]) {
      const drawn = runSeed({ seed, steps });
      const { schedule, peers } = tapeOptions({ seed, steps });
      expect(drawn.plan.schedule).toBe(schedule);
      expect(drawn.hash).toBe(runSeed({ seed, schedule, steps }).hash);
      expect(drawn.hash).toBe(runSeed({ seed, schedule, peers, steps }).hash);
    }
  });
});
