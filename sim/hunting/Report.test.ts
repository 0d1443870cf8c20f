import { expect, it } from "vitest";
import { runOf } from "../bin/HuntRun.ts";
import { calledAs, failureLines } from "./Report.ts";

const options = { schedule: "calm", peers: 3, mode: undefined, steps: 300, crypto: "fast" } as const;

it("tells a failure with the command as it is called where it is told, wherever it was reported", () => {
  const run = runOf(1, { ...options, bug: "double-vote" });
  const words = "sim run --seed 1 --schedule calm --peers 3 --steps 300 --crypto fast --bug double-vote";
  const elsewhere = calledAs("npm run -s custody --", run);
  expect(elsewhere.replay).toBe(`npm run -s custody -- ${words}`);
  expect(failureLines("npx custody", elsewhere)).toContain(`  replay: npx custody ${words}`);
  expect(failureLines("npx custody", runOf(1, { ...options, bug: undefined }))).toEqual([]);
});
