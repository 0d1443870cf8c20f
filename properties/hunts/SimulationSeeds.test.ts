/** Seeds that once found something, and one of each kind: replayed for ever. */
import { expect, it } from "vitest";
import { isSchedule } from "../../sim/schedules/Schedules.ts";
import { runSeed } from "../../sim/run/Simulation.ts";
import seeds from "../seeds.json" with { type: "json" };

/** Seeds are as long as they were when they found something. */
const STEPS = 2_000;

it.each(seeds)("$name: seed $seed of $schedule with $peers peers", (pinned) => {
  const { seed, schedule, peers, steps = STEPS, reaches = "answered 201" } = pinned;
  if (!isSchedule(schedule)) throw new TypeError(`seeds.json names no schedule: ${schedule}`);
  const result = runSeed({ seed, schedule, peers, steps });
  expect(result.violation?.message).toBeUndefined();
  expect(result.marks.find(([name]) => name === reaches)?.[1]).toBeGreaterThan(0);
});
