import { describe, expect, it } from "vitest";
import { scheduleNamed, scheduleNames } from "../schedules/Schedules.ts";
import { reachedIn } from "./Reached.ts";
import { seldomOf, Tallies, tallyLines } from "./Tallies.ts";

const MARK = "a vote was kept back";
const ONE_IN = 2;
const tally = (runs: number, met: number) => ({ schedule: "silent-preparer", runs, met: { [MARK]: met } }) as const;

describe("the marks of schedules", () => {
  it("are there for every schedule but the mix of faults, each to be met by one run in so many", () => {
    const without = scheduleNames.filter((name) => Object.keys(scheduleNamed(name).marks).length === 0);
    expect(without).toEqual(["swarm"]);
    for (const name of scheduleNames)
      for (const oneIn of Object.values(scheduleNamed(name).marks)) expect(oneIn).toBeGreaterThanOrEqual(2);
    expect(scheduleNamed("silent-preparer").marks).toEqual({ [MARK]: ONE_IN });
  });

  it("are met: a token expires between the writer and a member, in one of the first runs", () => {
    expect(reachedIn("token-expires-mid-collect")).toEqual([
      { mark: "a token expired between its writer and a voter", oneIn: 3, seed: expect.any(Number) },
      { mark: "settled by an abort", oneIn: 3, seed: expect.any(Number) },
    ]);
  });

  it("are missed too often where fewer runs than stated met them, once luck says nothing", () => {
    expect(seldomOf(tally(10 * ONE_IN, 9), false)).toEqual([
      { schedule: "silent-preparer", mark: MARK, runs: 20, met: 9, oneIn: ONE_IN },
    ]);
    expect(seldomOf(tally(10 * ONE_IN, 10), false)).toEqual([]);
    expect(seldomOf(tally(10 * ONE_IN - 1, 0), false)).toEqual([]);
  });

  it("are judged in any hunt that requires them and has as many runs as one takes", () => {
    expect(seldomOf(tally(ONE_IN, 0), true)).toHaveLength(1);
    expect(seldomOf(tally(ONE_IN, 1), true)).toEqual([]);
    expect(seldomOf(tally(ONE_IN - 1, 0), true)).toEqual([]);
  });
});

it("counts runs that met a mark, not how often they did, and only marks of their schedule", () => {
  const tallies = new Tallies();
  tallies.add({
    schedule: "silent-preparer",
    marks: [
      [MARK, 7],
      ["answered 201", 3],
    ],
  });
  tallies.add({ schedule: "silent-preparer", marks: [] });
  tallies.add({ schedule: "swarm", marks: [[MARK, 1]] });
  tallies.add({ schedule: "of another version", marks: [[MARK, 1]] });
  const entries = [tally(2, 1), { schedule: "swarm", runs: 1, met: {} }];
  expect(tallies.entries()).toEqual(entries);
  const sum = new Tallies();
  for (const each of [tallies, tallies]) sum.addAll(each.entries());
  expect(sum.entries()).toEqual([tally(4, 2), { schedule: "swarm", runs: 2, met: {} }]);
  expect(tallyLines(sum.entries())).toEqual([
    "          4  silent-preparer: 2 a vote was kept back",
    "          2  swarm",
  ]);
});
