import { describe, expect, it } from "vitest";
import { boundsOf } from "./StrengthBounds.ts";

const judged = (...rows: ReadonlyArray<readonly [seed: number, size: number]>) =>
  boundsOf(rows.map(([seed, size], index) => ({ bug: `bug-${index}`, seed, size })));

describe("the bounds that planted bugs are held to", () => {
  it("are kept where one of two is found early and becomes small, and each in the end", () => {
    expect(judged([1, 0], [100, 5], [9_000, 60])).toEqual({
      reached: "3 of 3 found, median seed 100, median 5 deviations after shrinking, at most 60",
      unfound: [],
      missed: [],
    });
  });

  it.each<readonly [string, ReturnType<typeof judged>, ReadonlyArray<string>]>([
    [
      "one that is not found",
      judged([1, 0], [1, 0], [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]),
      ["bug-2 was not found"],
    ],
    ["one that stays large", judged([1, 0], [1, 0], [1, 61]), ["bug-2 has 61 deviations left, more than 60"]],
    ["late ones", judged([1, 0], [101, 0], [102, 0]), ["the median seed is above 100"]],
    ["large ones", judged([1, 0], [1, 6], [1, 7]), ["the median size is above 5 deviations"]],
  ])("name %s", (_what, { missed }, named) => {
    expect(missed).toEqual(named);
  });
});
