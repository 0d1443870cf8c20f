import { Effect } from "effect";
import { expect, it } from "vitest";
import { tapeOptions } from "../../sim/tape/Tape.ts";
import { record } from "../../sim/tape/TapeRun.ts";
import { shrinkWithin } from "../../sim/bin/Shrinking.ts";

const options = { seed: 1, schedule: "one-way-partition", peers: 3, steps: 600, crypto: "fast" } as const;
const MANY = 1_000_000_000;

it.each(["SIGINT", "SIGTERM"] as const)("ends at a %s with the smallest run that was found", async (signal) => {
  const failing = record(tapeOptions(options, "answer-early"));
  const before = process.listenerCount(signal);
  const ending = Effect.runPromise(shrinkWithin(failing, MANY));
  // As the signal would, but to this listener alone: others belong to whoever runs the test.
  process.listeners(signal).at(-1)?.(signal);
  const { recording, runs, isMinimal } = await ending;
  expect(recording.result.violation?.id).toBe(failing.result.violation?.id);
  expect([runs > 0, isMinimal]).toEqual([true, false]);
  expect(process.listenerCount(signal)).toBe(before);
});

it("ends with its budget, the same on every machine", async () => {
  const failing = record(tapeOptions(options, "answer-early"));
  const [left, right] = await Promise.all([
    Effect.runPromise(shrinkWithin(failing, 5_000)),
    Effect.runPromise(shrinkWithin(failing, 5_000)),
  ]);
  expect(left.events).toBeGreaterThanOrEqual(5_000);
  expect(left.isMinimal).toBe(false);
  expect(left.recording.result.hash).toBe(right.recording.result.hash);
  expect([left.runs, left.events]).toEqual([right.runs, right.events]);
});
