/** The commands that replay and shrink, as a person runs them. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { MOST_FAILURE_LINES } from "../../sim/show/Story.ts";
import { runCustody } from "../cli/CustodyProcess.ts";
import { runInProcess } from "../cli/InProcess.ts";

const loadSim = async () => (await import("../../sim/bin/simCommand.ts")).sim;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "custody-tapes-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const failing = "--schedule calm --peers 3 --crypto fast --steps 300 --bug lost-acknowledgements".split(" ");

it("shrinks a seed to a tape, replays it, stops at an event and shows a peer there", async () => {
  const tape = join(folder, "smallest.json");
  const shrunk = await runCustody(["sim", "shrink", "1", ...failing, "--out", tape]);
  expect(shrunk).toMatchObject({ code: 1, stderr: "" });
  const lines = shrunk.stdout.trimEnd().split("\n");
  expect(lines.length).toBeLessThanOrEqual(MOST_FAILURE_LINES);
  expect(lines[0]).toContain("breaks S23");
  // The printed command is run as it stands.
  const [, printed = ""] = /^ {2}replay: (.*)$/m.exec(shrunk.stdout) ?? [];
  const replayed = spawnSync("sh", ["-c", `${printed} --json`], { encoding: "utf8" });
  expect(replayed).toMatchObject({ status: 1, stderr: "" });
  expect(JSON.parse(replayed.stdout)).toMatchObject({ stopped: false, violation: { id: "S23" } });
  const stopped = await runCustody([
    "sim",
    "replay",
    tape,
    "--until",
    "20",
    "--show",
    "state",
    "--peer",
    "2",
    "--json",
  ]);
  expect(stopped.code).toBe(0);
  const { peers, ...rest } = JSON.parse(stopped.stdout);
  expect(rest).toMatchObject({ stopped: true, events: 20 });
  expect(peers).toMatchObject([{ peer: 2, process: 1 }]);
  // By then the quiet run, which is shorter, has left its survivors without peer 1.
  const beside = ["--until", "90", "--show", "state", "--peer", "2"];
  const whole = await runCustody(["sim", "replay", "1", ...failing, ...beside]);
  const [, differing = "", same = ""] = whole.stdout.split(/^ {2}\d+ (?:lines differ .*|are the same):$/m);
  expect(differing).toContain("(quiet: ");
  expect(same).not.toContain("(quiet: ");
  expect(same).toContain("Peer: initialized: as peer 2");
  const story = await runCustody(["sim", "replay", tape, "--show", "story", "--json"]);
  expect(JSON.parse(story.stdout).story).toMatchObject({ traitor: null });
  expect(JSON.parse(story.stdout).story.lines.join("\n")).toContain("handed over twice");
  const refused = await runCustody(["sim", "replay", tape, "--show", "story", "--until", "20"]);
  expect([refused.code, refused.stderr.split("\n")[0]]).toEqual([
    2,
    "--show story tells a whole run; leave --until out.",
  ]);
});

it("writes the tape of what a hunt found, and says what it cannot read", async () => {
  const found = await runCustody(["sim", "run", "--seed", "1", ...failing, "--no-shrink", "--tapes", folder, "--json"]);
  expect(found.code).toBe(1);
  const file = join(folder, "S23-calm-1.tape");
  expect(JSON.parse(found.stdout)).toMatchObject({ violation: { id: "S23" }, tapes: [{ seed: 1, file }] });
  writeFileSync(file, readFileSync(file, "latin1").replace("full", "most"), "latin1");
  const refused = await runCustody(["sim", "replay", file]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('field "kind"');
  const both = await runCustody(["sim", "replay", file, "--peers", "3"]);
  expect(both.code).toBe(2);
  expect(both.stderr).toContain("belong to a seed");
});

it("says in one line of JSON what the smallest run breaks, and its story", async () => {
  const file = join(folder, "traitor.tape");
  const command = [
    "sim",
    "shrink",
    "1",
    ..."--schedule equivocating-writer --peers 3 --steps 300 --crypto fast".split(" "),
  ];
  const exit = vi.spyOn(process, "exit").mockReturnValue(undefined as never);
  const { stdout } = await runInProcess([...command, "--bug", "double-vote", "--out", file, "--json"], {}, loadSim);
  const replayed = await runInProcess(["sim", "replay", file, "--show", "story", "--json"], {}, loadSim);
  expect(exit.mock.calls).toEqual([[1], [1]]);
  exit.mockRestore();
  const { violation, story, ...rest } = JSON.parse(stdout);
  expect(rest).toMatchObject({ file, isMinimal: true });
  expect(story.traitor).toBe("peer 1 is the traitor: equivocating writer");
  // Of the tape, and not of the longer run that it was made from.
  expect(JSON.parse(replayed.stdout)).toMatchObject({ violation, story });
});

it("draws a picture and says in one line of JSON what is in it, the traitor among it", async () => {
  const out = join(folder, "run.html");
  const command = (words: string) => ["sim", "show", "1", ...words.split(" "), "--out", out, "--json"];
  const lying = "--schedule equivocating-writer --peers 3 --steps 300 --crypto fast --bug double-vote";
  const exit = vi.spyOn(process, "exit").mockReturnValue(undefined as never);
  const ended = await runInProcess(command(lying), {}, loadSim);
  expect(exit.mock.calls).toEqual([[1]]);
  exit.mockRestore();
  expect([ended.stdout.trimEnd().split("\n").length, ended.stderr]).toEqual([1, ""]);
  const told = JSON.parse(ended.stdout);
  expect(told).toMatchObject({
    file: out,
    leftOut: 0,
    stopped: false,
    traitor: "peer 1 is the traitor: equivocating writer",
  });
  const { id, facts } = told.violation;
  expect([id.length > 0, facts.length]).toEqual([true, 2]);
  expect(told.moments).toBeGreaterThan(10);
  expect(readFileSync(out, "utf8")).toContain("Peer 1 is the traitor: equivocating writer.");
  const honest = "--schedule calm --peers 3 --steps 300 --crypto fast --until 20";
  const stopped = await runInProcess(command(honest), {}, loadSim);
  expect(stopped).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(stopped.stdout)).toMatchObject({ stopped: true, traitor: null, violation: null });
});
