import { describe, expect, it } from "vitest";
import { clockFaults, isOutOfTime, type Sight, stampedWrong } from "./Clocks.ts";

const NOW = 1_800_000_000_000;
const DAY = 86_400_000;
const DIFFERS = "its clock differs by more than 5 s";
const versus = (other: string) => `its clock and that of peer ${other} differ by more than 5 s`;

/** Peer 1's readings of the others, whose clocks are so far ahead of its own, in the order of their ids from 2. */
const faultsOf = (...offsets: ReadonlyArray<number>) =>
  clockFaults(
    1,
    offsets.map((offset, index): Sight => ({ peerId: index + 2, clock: NOW + offset, from: NOW, to: NOW })),
  );

describe("a clock that is off", () => {
  it.each<readonly [string, ReadonlyArray<number>, ReturnType<typeof faultsOf>]>([
    ["nobody, where none is by more than may be", [5_000, -5_000], []],
    ["nobody, where there is no other", [], []],
    ["the member that all others contradict, ahead", [0, DAY], [{ peerId: 3, reason: DIFFERS }]],
    ["the member that all others contradict, behind", [-5_001, 1], [{ peerId: 2, reason: DIFFERS }]],
    ["this peer, which all others contradict", [DAY, DAY + 3_000], [{ peerId: 1, reason: DIFFERS }]],
    [
      "both of two",
      [DAY],
      [
        { peerId: 1, reason: versus("2") },
        { peerId: 2, reason: versus("1") },
      ],
    ],
    [
      "all three where each says something else",
      [DAY, -DAY],
      [
        { peerId: 1, reason: versus("2, 3") },
        { peerId: 2, reason: versus("1") },
        { peerId: 3, reason: versus("1") },
      ],
    ],
    [
      "each of a minority",
      [0, 0, DAY, DAY],
      [
        { peerId: 4, reason: DIFFERS },
        { peerId: 5, reason: DIFFERS },
      ],
    ],
  ])("names %s", (_whom, offsets, faults) => {
    expect(faultsOf(...offsets)).toEqual(faults);
  });

  it("is held against all the time in which it may have been read", () => {
    const sight = { peerId: 2, from: NOW - 1_000, to: NOW };
    for (const clock of [NOW - 6_000, NOW + 5_000]) expect(clockFaults(1, [{ ...sight, clock }])).toEqual([]);
    for (const clock of [NOW - 6_001, NOW + 5_001]) expect(clockFaults(1, [{ ...sight, clock }])).toHaveLength(2);
  });
});

it("puts a request out of its time that is stamped more than a minute away, and says whose stamp it is", () => {
  expect([-60_000, 60_000].map((offset) => isOutOfTime(NOW + offset, NOW))).toEqual([false, false]);
  expect([-60_001, 60_001].map((offset) => isOutOfTime(NOW + offset, NOW))).toEqual([true, true]);
  expect(stampedWrong(3)).toEqual({
    peerId: 3,
    reason: "its clock was off by more than 60 s when the request came in",
  });
});
