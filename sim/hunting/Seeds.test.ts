import { Either } from "effect";
import { expect, it } from "vitest";
import { parseDuration, parseSeeds } from "./Seeds.ts";

it("reads one seed and a range of seeds", () => {
  expect(parseSeeds("7")).toEqual(Either.right({ first: 7, last: 7 }));
  expect(parseSeeds("1..10000")).toEqual(Either.right({ first: 1, last: 10_000 }));
  expect(parseSeeds(`${2 ** 48}`)).toEqual(Either.right({ first: 2 ** 48, last: 2 ** 48 }));
});

it.each(["", "-1", "1.5", "2..1", "1...2", "1..", "..2", " 1", "1e3", `${2 ** 48 + 1}`])(
  "refuses %j as seeds",
  (text) => {
    expect(Either.isLeft(parseSeeds(text))).toBe(true);
  },
);

it("reads seconds, minutes and hours", () => {
  expect(["60s", "5m", "2h"].map((text) => Either.getOrNull(parseDuration(text)))).toEqual([
    60_000, 300_000, 7_200_000,
  ]);
});

it.each(["", "60", "0s", "1.5m", "-1s", "s", "1d"])("refuses %j as a time", (text) => {
  expect(Either.isLeft(parseDuration(text))).toBe(true);
});
