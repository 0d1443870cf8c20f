/**
 * What the simulator adds to the unit tests where mutants of `core` are hunted:
 * a few short seeds of every schedule, every checker on. A mutant that breaks an
 * invariant, ends a run or keeps one from going on is killed here.
 */
import { expect, it } from "vitest";
import { type ScheduleName, scheduleNames } from "../../sim/Schedules.ts";
import { runSeed } from "../../sim/Simulation.ts";

const SEEDS = [1, 2];
const STEPS = 500;

it.each(scheduleNames)("no seed breaks anything: %s", (schedule: ScheduleName) => {
  for (const seed of SEEDS) {
    const { violation } = runSeed({ seed, schedule, steps: STEPS, crypto: "fast" });
    expect(violation?.message).toBeUndefined();
  }
});
