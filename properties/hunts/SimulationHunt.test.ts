import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import { afterAll, describe, expect, it } from "vitest";
import { program, runCustody } from "../cli/CustodyProcess.ts";
import { Running } from "../cli/Running.ts";
import { Interruption } from "../../sim/run/Interruption.ts";
import { runSeed } from "../../sim/run/Simulation.ts";
import { parseTape } from "../../sim/tape/TapeFormat.ts";
import { hunt } from "../../sim/bin/Hunt.ts";
import { runOf } from "../../sim/bin/HuntRun.ts";
import type { HuntOptions } from "../../sim/hunting/HuntOptions.ts";
import { keepFailures } from "../../sim/bin/Shrinking.ts";

const folder = mkdtempSync(join(tmpdir(), "custody-hunt-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const options: HuntOptions = {
  schedule: "calm",
  peers: 3,
  mode: undefined,
  steps: 300,
  crypto: "fast",
  bug: "thrown-out-of-a-step",
};
const SEEDS = [1, 2, 3, 4, 5, 6, 7];

describe("what is thrown inside a seed", () => {
  it("is a finding with seed and tape, and every other seed keeps its result", async () => {
    const runs = SEEDS.map((seed) => runOf(seed, options));
    const failed = runs.flatMap(({ seed, violation }) => (violation === undefined ? [] : [{ seed, ...violation }]));
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.length).toBeLessThan(SEEDS.length);
    for (const { id, facts } of failed) {
      expect(id).toBe("E1");
      expect(facts[1]).toMatch(
        /^TypeError: a key has an owner was thrown at sim\/bugs\/RegistryBugs\.ts:\d+, called at /,
      );
      // The report names no path of this machine.
      expect(facts[1]).not.toContain(process.cwd());
    }
    const [kept] = await Effect.runPromise(
      keepFailures(
        runs.filter((run) => run.violation !== undefined),
        options,
        { tapes: folder, noShrink: false },
      ),
    );
    // The shortest of them: it is the soonest made small.
    const [shortest] = runs
      .filter(({ violation }) => violation !== undefined)
      .toSorted((left, right) => left.events - right.events);
    expect(kept?.seed).toBe(shortest?.seed);
    const tape = parseTape(readFileSync(kept?.file ?? ""));
    expect(tape).toMatchObject({ _tag: "Right", right: { end: { violation: { id: "E1" } } } });
  });

  it("ends a hunt like any finding: with 1, and with what the other seeds came to", async () => {
    const args = ["--seeds", "1..7", "--schedule", "calm", "--peers", "3", "--steps", "300", "--crypto", "fast"];
    const more = ["--bug", "thrown-out-of-a-step", "--no-shrink", "--jobs", "1", "--json", "--tapes", folder];
    const { code, stdout } = await runCustody(["sim", "run", ...args, ...more]);
    const told = JSON.parse(stdout);
    expect([code, told.seeds, told.events > 0]).toEqual([1, 7, true]);
    expect(told.failures.map((each: { violation: { id: string } }) => each.violation.id)).toContain("E1");
    expect(told.tapes[0].file).toContain("E1-calm-");
  });

  it("is told at once, and in the end where a signal ends the hunt", async () => {
    const args = ["--seeds", "1..100000", "--schedule", "calm", "--peers", "3", "--steps", "300", "--crypto", "fast"];
    const more = ["--bug", "thrown-out-of-a-step", "--no-shrink", "--jobs", "1", "--tapes", folder];
    const running = new Running([program, "sim", "run", ...args, ...more]);
    await running.until((text) => /^seed \d+ \(schedule calm, 3 peers\) breaks E1$/m.exec(text) ?? undefined);
    expect(await running.stop("SIGINT")).toBe(1);
    const { stdout, stderr } = running;
    expect(stderr).toContain("ending with the seeds that are under way");
    expect(stdout).toMatch(/^\d+ seeds failed$/m);
    expect(stdout).toMatch(/E1-calm-\d+\.tape/);
  });

  it("is none where somebody who looks on ends the run", () => {
    const line = (): void => {
      throw new Interruption("enough");
    };
    expect(() => runSeed({ seed: 1, schedule: "calm", peers: 1, steps: 20, crypto: "fast" }, { line })).toThrow(
      "enough",
    );
  });
});

describe("a process of a hunt that ends in a seed", () => {
  /** Runs nothing, and ends at seed 11: by itself, or at a signal. */
  const worker = (name: string, end: string): string => {
    const file = join(folder, name);
    writeFileSync(
      file,
      `process.on("message", ({ first, last }) => {
        if (first <= 11 && last >= 11) ${end};
        const runs = [];
        for (let seed = first; seed <= last; seed++)
          runs.push({ seed, schedule: "calm", peers: 3, mode: "within", crypto: "fast", hash: "0".repeat(16), events: 1, faults: [], marks: [], replay: "" });
        process.send(runs);
      });
      process.on("disconnect", () => process.exit());`,
    );
    return file;
  };

  it.each([
    ["by itself", "exit.mjs", "process.exit(7)", 7],
    ["at a signal", "signal.mjs", 'process.kill(process.pid, "SIGKILL")', "SIGKILL"],
  ])("%s costs no other seed its result", async (_, name, end, told) => {
    const report = await hunt({
      seeds: { first: 1, last: 40 },
      jobs: 2,
      millis: undefined,
      options: { ...options, bug: undefined },
      progress: () => undefined,
      worker: worker(name, end),
    });
    expect([report.seeds, report.events]).toEqual([40, 39]);
    expect(report.failures).toMatchObject([{ seed: 11, schedule: "calm", peers: 3, violation: { id: "E2" } }]);
    expect(report.failures[0]?.violation?.facts[1]).toBe(`the process that ran this seed alone ended with ${told}`);
    expect(await Effect.runPromise(keepFailures(report.failures, options, { tapes: folder, noShrink: true }))).toEqual(
      [],
    );
  });
});
