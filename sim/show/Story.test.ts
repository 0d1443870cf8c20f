import { expect, it } from "vitest";
import { plantedBugOptions, plantedBugs } from "../bugs/PlantedBugs.ts";
import { tapeOptions } from "../tape/Tape.ts";
import { record } from "../tape/TapeRun.ts";
import { failureText, MOST_FAILURE_LINES, storyOf } from "./Story.ts";

/** The first failure of a planted bug, told without being shrunk. */
const told = (name: string, schedule?: "equivocating-writer"): ReadonlyArray<string> => {
  const bug = plantedBugs.find((each) => each.name === name);
  if (bug === undefined) throw new RangeError(`no planted bug ${name}`);
  for (let seed = 1; seed <= 40; seed++) {
    const planted = plantedBugOptions(bug, seed);
    const recording = record(tapeOptions(schedule === undefined ? planted : { ...planted, schedule }, name));
    if (recording.result.violation === undefined) continue;
    const story = storyOf((onlookers) => record(recording.options, onlookers));
    return failureText({ recording, commit: "test", replay: "replay it", origin: "whole", story });
  }
  throw new RangeError(`${name} was not found`);
};

it("names the traitor before the facts, and the votes on the proposal before the contradiction", () => {
  const lines = told("double-vote", "equivocating-writer");
  const text = lines.join("\n");
  const [, id = ""] = /proposal ([0-9a-f]{16})/.exec(lines[2] ?? "") ?? [];
  expect(lines[1]).toBe("  peer 1 is the traitor: equivocating writer");
  expect(id).not.toBe("");
  expect(text).toMatch(new RegExp(`sends peer \\d (the traitor's|peer \\d's) [A-Z]+.* of ${id}`));
  expect(lines.length).toBeLessThanOrEqual(MOST_FAILURE_LINES);
});

it("accuses nobody where every member is honest, and says votes and rule in the facts", () => {
  const lines = told("pledge-aborts");
  expect(lines.join("\n")).not.toContain("traitor");
  expect(lines[1]).toMatch(/fact: peer \d aborted proposal [0-9a-f]{16} \(peer 1 .*RECEIPT.*; peer 2 .*\)$/);
  expect(lines[2]).toContain("an abort needs the vote of every member");
});
