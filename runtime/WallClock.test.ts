import { expect, it } from "vitest";
import { WallClock } from "./WallClock.ts";

const NOW = 1_800_000_000_000;

/** What it tells of readings of both clocks, one after the other; the first is of no step. */
const stepsOf = (...readings: ReadonlyArray<readonly [wall: number, elapsed: number]>) => {
  const steps: Array<number> = [];
  let at = 0;
  const clock = new WallClock({
    clock: () => NOW + (readings[at]?.[0] ?? 0),
    elapsed: () => readings[at]?.[1] ?? 0,
    clockStepped: (byMillis) => steps.push(byMillis),
  });
  const read = readings.map(() => {
    const { now, elapsed } = clock.read();
    at += 1;
    return [now - NOW, elapsed] as const;
  });
  return { steps, read };
};

it("shows what the clocks show, whatever they showed before", () => {
  const readings = [
    [0, 5.7],
    [86_400_000, 6.2],
    [10, 7],
    [-86_400_000, 8.9],
  ] as const;
  expect(stepsOf(...readings).read).toEqual(readings.map(([wall, elapsed]) => [wall, Math.floor(elapsed)]));
});

it.each<readonly [string, ReadonlyArray<readonly [number, number]>, ReadonlyArray<number>]>([
  [
    "ahead, and of the way back",
    [
      [0, 0],
      [3_600_010, 10],
      [20, 20],
    ],
    [3_600_000, -3_600_000],
  ],
  [
    "of a second",
    [
      [0, 0],
      [1_005, 5],
    ],
    [1_000],
  ],
  [
    "back by a second",
    [
      [0, 0],
      [-995, 5],
    ],
    [-1_000],
  ],
  [
    "but not of less",
    [
      [0, 0],
      [1_004, 5],
      [1_000, 900],
    ],
    [],
  ],
  [
    "but not of time that went by",
    [
      [0, 0],
      [86_400_000, 86_400_000],
    ],
    [],
  ],
])("tells of a step %s", (_what, readings, steps) => {
  expect(stepsOf(...readings).steps).toEqual(steps);
});
