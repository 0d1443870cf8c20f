import { describe, expect, it } from "vitest";
import { plantedBugOptions, plantedBugs } from "../../sim/bugs/PlantedBugs.ts";
import { failureText, MOST_FAILURE_LINES, storyOf } from "../../sim/show/Story.ts";
import { tapeOptions } from "../../sim/tape/Tape.ts";
import { type Recording, record, replayExactly, tapeOf } from "../../sim/tape/TapeRun.ts";
import { follow, shrink, shrinking } from "../../sim/shrink/Shrink.ts";

const MOST_DEVIATIONS = 8;
const limits = { mostEvents: 500_000 };

/** The first run in which a planted bug shows. */
const failingRun = (name: string): Recording => {
  const bug = plantedBugs.find((each) => each.name === name);
  if (bug === undefined) throw new RangeError(`no planted bug ${name}`);
  for (let seed = 1; seed <= 40; seed++) {
    const recording = record(tapeOptions(plantedBugOptions(bug, seed), name));
    if (recording.result.violation !== undefined) return recording;
  }
  throw new RangeError(`${name} was not found`);
};

describe("shrinking", () => {
  it.each(["double-vote", "lost-acknowledgements", "answer-early", "damage-ignored"])(
    "makes a few deviations of a run with %s, and they replay to the same violation",
    (name) => {
      const failing = failingRun(name);
      const { recording, isMinimal } = shrink(failing, limits);
      expect(failing.deviations.length).toBeGreaterThan(MOST_DEVIATIONS);
      expect(recording.deviations.length).toBeLessThanOrEqual(MOST_DEVIATIONS);
      expect(isMinimal).toBe(true);
      const tape = tapeOf(recording, { commit: "test", sparse: true });
      const again = replayExactly(tape);
      expect(again.result.violation?.id).toBe(failing.result.violation?.id);
      const text = failureText({
        recording: again,
        commit: "test",
        replay: "replay it",
        origin: "from a seed",
        story: storyOf((onlookers) => replayExactly(tape, onlookers)),
      });
      expect(text.length).toBeLessThanOrEqual(MOST_FAILURE_LINES);
      for (const fact of again.result.violation?.facts ?? []) expect(text.join("\n")).toContain(fact.slice(0, 100));
    },
  );

  it("gives the same for the same, ends where it is told to, and leaves a run without a violation alone", () => {
    const failing = failingRun("lost-acknowledgements");
    const [left, right] = [shrink(failing, limits), shrink(failing, limits)];
    expect(left.recording.deviations).toEqual(right.recording.deviations);
    expect(left.runs).toBe(right.runs);
    expect(left.events).toBeLessThan(limits.mostEvents);
    // The run that uses the budget up is the last one.
    const first = shrink(failing, { mostEvents: 1 });
    expect(first).toMatchObject({ runs: 1, isMinimal: false });
    expect(shrink(failing, { mostEvents: first.events })).toEqual(first);
    expect(shrink(failing, { mostEvents: first.events + 1 }).runs).toBe(2);
    expect(shrink(failing, { mostEvents: 0 })).toMatchObject({ runs: 0, recording: failing });
    const fine = record(tapeOptions({ seed: 1, schedule: "calm", steps: 100 }));
    expect(shrink(fine, limits)).toMatchObject({ runs: 0, recording: fine });
  });

  it("has the smallest run that was found whenever it is ended", () => {
    const failing = failingRun("lost-acknowledgements");
    const sizes: Array<number> = [];
    for (const { recording } of shrinking(failing, limits)) {
      expect(recording.result.violation?.id).toBe(failing.result.violation?.id);
      sizes.push(recording.deviations.length);
    }
    expect(sizes[0]).toBeGreaterThan(sizes.at(-1) ?? 0);
    expect(sizes.at(-1)).toBe(shrink(failing, limits).recording.deviations.length);
  });

  it("comes to the end of a quiet run whose callers have nothing left to register", () => {
    const options = tapeOptions({ seed: 1, schedule: "metadata-ping-pong", peers: 3, steps: 1_000 });
    const { result, units } = follow({ options, units: [] });
    expect(result.violation).toBeUndefined();
    expect(units.length).toBeLessThan(10_000);
  });

  it("tells a long failure in no more lines than it may", () => {
    const failing = failingRun("answer-early");
    const story = storyOf((onlookers) => record(failing.options, onlookers));
    const text = failureText({ recording: failing, commit: "test", replay: "replay it", origin: "whole", story });
    expect(failing.deviations.length).toBeGreaterThan(MOST_FAILURE_LINES);
    expect(text.length).toBeLessThanOrEqual(MOST_FAILURE_LINES);
    expect(text.length).toBeGreaterThan(MOST_FAILURE_LINES / 2);
    expect(text[0]).toContain("breaks S14");
  });
});
