import { describe, expect, it } from "vitest";
import { tapeOptions } from "../tape/Tape.ts";
import { record } from "../tape/TapeRun.ts";
import { courseOf, shrinking } from "./Shrink.ts";
import { sketches } from "./Sketches.ts";

const BUDGET = 100_000;
const failing = record(tapeOptions({ seed: 2, schedule: "calm", peers: 3, steps: 3_000 }, "deaf-to-votes"));
const cost = failing.result.events + failing.result.calls;

describe("sketches of a long failure", () => {
  it("are short, hold nothing that it does not, and cost a part of the budget", () => {
    const all = [...sketches(courseOf(failing), cost, BUDGET)];
    const known = new Set(failing.deviations);
    expect(all.length).toBeGreaterThan(0);
    expect(all.reduce((sum, { mostEvents }) => sum + mostEvents, 0)).toBeLessThan(BUDGET / 2);
    for (const { candidate, mostEvents } of all) {
      expect(candidate.options.steps).toBeLessThan(mostEvents);
      expect(mostEvents).toBeLessThan(cost);
      expect(candidate.units.every((unit) => known.has(unit))).toBe(true);
    }
    expect(all[0]?.candidate.units).toEqual([]);
    expect([...sketches(courseOf(failing), cost, BUDGET)]).toEqual(all);
  });

  it("are not asked for where a failure takes little of the budget, or the budget is little", () => {
    expect([...sketches(courseOf(failing), BUDGET / 100, BUDGET)]).toEqual([]);
    expect([...sketches(courseOf(failing), cost, cost)]).toEqual([]);
  });

  it("stand in for it from the first that fails the same way", () => {
    const first = shrinking(failing, { mostEvents: BUDGET });
    for (const { recording, events } of first) {
      if (recording === failing) continue;
      expect(recording.result.violation?.id).toBe(failing.result.violation?.id);
      expect(recording.result.events + recording.result.calls).toBeLessThan(cost / 2);
      expect(events).toBeLessThan(BUDGET / 2);
      return;
    }
    expect.unreachable("nothing smaller was found");
  });
});
