import { expect, it } from "vitest";
import { plantedBugNamed } from "../bugs/PlantedBugs.ts";
import type { ScheduleName } from "../schedules/Schedules.ts";
import { reportOf } from "../hunting/Report.ts";
import { runSeed } from "../run/Simulation.ts";
import { pictureOf } from "./Picture.ts";
import { Recorder } from "./Recorder.ts";

const pictured = (schedule: ScheduleName, bug?: string) => {
  const recorder = new Recorder();
  const options = { seed: 1, schedule, peers: 3, crypto: "fast", steps: 300 } as const;
  const result = runSeed(options, { observer: recorder, tampering: plantedBugNamed(bug ?? "")?.tampering() });
  const report = reportOf(result, options);
  return pictureOf(recorder, { report, command: report.replay, notes: ["a note"], peer: undefined });
};

it("names the traitor over its lane and in a sentence, whether or not something is violated", () => {
  for (const bug of [undefined, "double-vote"]) {
    const { run, violation } = pictured("equivocating-writer", bug);
    expect(violation === null).toBe(bug === undefined);
    expect(run.treasons).toEqual(["equivocating writer", null, null]);
    expect(run.notes).toEqual(["a note", "Peer 1 is the traitor: equivocating writer."]);
  }
});

it("accuses nobody where every member is honest", () => {
  const { run, violation } = pictured("calm", "double-vote");
  expect(violation?.id).toBeDefined();
  expect(run.treasons).toEqual([null, null, null]);
  expect(run.notes).toEqual(["a note"]);
});
