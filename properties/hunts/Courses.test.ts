/** Properties of whole runs, through fast-check, which shrinks them with the simulator's own machinery. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { follow } from "../../sim/shrink/Shrink.ts";
import { record, replayExactly, tapeOf } from "../../sim/tape/TapeRun.ts";
import { courses } from "../CourseArbitrary.ts";

const SEED = 14;
/** Of several smallest ones the middle one counts: from here or there a search ends in another valley. */
const SEEDS = [1, 2, SEED];
const MOST_DEVIATIONS = 8;

it("holds for the correct core, and every run is its own course again", () => {
  fc.assert(
    fc.property(courses({ schedule: "swarm", peers: 3, steps: 150, crypto: "fast" }), (course) => {
      const { result, deviations } = follow(course);
      expect(result.violation).toBeUndefined();
      expect(result.hash).toBe(record(course.options).result.hash);
      expect(deviations).toEqual(course.units);
    }),
    { seed: SEED, numRuns: 5 },
  );
});

it("makes a planted bug a few deviations, mostly, which are a tape that fails again", () => {
  const sizes = SEEDS.map((seed) => {
    const found = fc.check(
      fc.property(
        courses({ schedule: "one-way-partition", peers: 3, steps: 600, crypto: "fast" }, "answer-early"),
        (course) => follow(course).result.violation === undefined,
      ),
      { seed, numRuns: 40 },
    );
    expect(found.failed).toBe(true);
    expect(found.numShrinks).toBeGreaterThan(0);
    const smallest = found.counterexample?.[0];
    if (smallest === undefined) throw new RangeError("no counterexample");
    const recording = follow(smallest);
    const again = replayExactly(tapeOf(recording, { commit: "test", sparse: true }));
    expect(again.result.violation?.id).toBe(recording.result.violation?.id);
    return recording.deviations.length;
  });
  const [, median] = sizes.toSorted((left, right) => left - right);
  expect(median).toBeLessThanOrEqual(MOST_DEVIATIONS);
});
