import { describe, expect, it } from "vitest";
import { Limits } from "../core/base/Limits.ts";
import { WallClock } from "./WallClock.ts";

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;
const WHILE = Limits.clockDoubtMillis;

type Shown = readonly [wall: number, elapsed: number];

/** Its reports on readings of both clocks, one after the other; the first is of no jump. */
const told = (...readings: ReadonlyArray<Shown>) => {
  const steps: Array<number> = [];
  let at = 0;
  const clock = new WallClock({
    clock: () => NOW + (readings[at]?.[0] ?? 0),
    elapsed: () => readings[at]?.[1] ?? 0,
    stepped: (byMillis) => steps.push(byMillis),
  });
  const read = readings.map(() => {
    const { now, asBefore, elapsed } = clock.read();
    at += 1;
    return { now: now - NOW, asBefore: asBefore.map((each) => each - NOW), elapsed };
  });
  const { latestStep } = clock;
  return { steps, latestStep, read, asBefore: read.map(({ asBefore }) => asBefore) };
};

it("shows what the clocks show, whatever they showed before", () => {
  const readings: ReadonlyArray<Shown> = [
    [0, 5.7],
    [86_400_000, 6.2],
    [10, 7],
    [-86_400_000, 8.9],
  ];
  expect(told(...readings).read).toMatchObject(
    readings.map(([wall, elapsed]) => ({ now: wall, elapsed: Math.floor(elapsed) })),
  );
});

it.each<readonly [string, ReadonlyArray<Shown>, ReadonlyArray<number>]>([
  [
    "ahead, and of the way back",
    [
      [0, 0],
      [HOUR + 10, 10],
      [20, 20],
    ],
    [HOUR, -HOUR],
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
  const { steps: heard, latestStep } = told(...readings);
  expect(heard).toEqual(steps);
  expect(latestStep?.byMillis).toBe(steps.at(-1));
});

describe("what the clock would show had it not been set", () => {
  it.each<readonly [string, ReadonlyArray<Shown>, ReadonlyArray<ReadonlyArray<number>>]>([
    [
      "goes on by the other clock, for ten minutes",
      [
        [0, 0],
        [HOUR, 10],
        [HOUR + 500, 510],
        [HOUR + WHILE - 1, WHILE + 9],
        [HOUR + WHILE, WHILE + 10],
      ],
      [[], [10], [510], [WHILE + 9], []],
    ],
    [
      "is there where it was set back",
      [
        [0, 0],
        [-HOUR, 10],
      ],
      [[], [10]],
    ],
    [
      "is nothing else where the step is one that clocks may differ by",
      [
        [0, 0],
        [Limits.clockSkewMillis, 0],
        [0, 0],
        [-Limits.clockSkewMillis, 0],
      ],
      [[], [], [], []],
    ],
    [
      "is either, where it was put back: nothing says which was wrong",
      [
        [0, 0],
        [HOUR + 10, 10],
        [20, 20],
      ],
      [[], [10], [20, HOUR + 20]],
    ],
    [
      "is of every time it was set, each for its own ten minutes",
      [
        [0, 0],
        [HOUR + 10, 10],
        [-HOUR + 1_010, 1_010],
        [-HOUR + WHILE + 10, WHILE + 10],
        [-HOUR + WHILE + 1_010, WHILE + 1_010],
      ],
      [[], [10], [1_010, HOUR + 1_010], [HOUR + WHILE + 10], []],
    ],
    [
      "is the same once, and ten minutes more, where it was set to that again",
      [
        [0, 0],
        [HOUR + 10, 10],
        [20, 20],
        [HOUR + 30, 30],
        [HOUR + WHILE + 10, WHILE + 10],
        [HOUR + WHILE + 20, WHILE + 20],
        [HOUR + WHILE + 30, WHILE + 30],
      ],
      [[], [10], [20, HOUR + 20], [HOUR + 30, 30], [HOUR + WHILE + 10, WHILE + 10], [WHILE + 20], []],
    ],
  ])("%s", (_what, readings, asBefore) => {
    expect(told(...readings).asBefore).toEqual(asBefore);
  });

  it("is of a few times where it is set again and again", () => {
    const readings = Array.from({ length: 100 }, (_, index): Shown => [index * HOUR, index]);
    expect(told(...readings).asBefore.at(-1)?.length).toBe(8);
  });
});
