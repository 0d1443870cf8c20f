/** S33: one seed, one trace hash, in every run and every process. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { sameHashes } from "../sim/checkers/S33.ts";
import { runSeed } from "../sim/Simulation.ts";

const loader = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const script = fileURLToPath(new URL("./SimulationHashes.ts", import.meta.url));
const SEEDS = [2, 3, 4, 5, 16];
const STEPS = 400;

/** The trace hashes of the seeds, from a process of its own. */
const hashesElsewhere = async (): Promise<ReadonlyArray<string>> => {
  const child = spawn(process.execPath, ["--import", loader, script, String(STEPS), ...SEEDS.map(String)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const chunks: Array<Buffer> = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(child, "close");
  return Buffer.concat(chunks).toString().trim().split("\n");
};

it("repeats every seed in this and in two other processes", async () => {
  const here = SEEDS.map((seed) => runSeed({ seed, steps: STEPS }).hash);
  const elsewhere = await Promise.all([hashesElsewhere(), hashesElsewhere()]);
  for (const hashes of elsewhere) expect(sameHashes(SEEDS, here, hashes)).toBeUndefined();
  expect(new Set(here).size).toBe(SEEDS.length);
});

it("has the same hash whether lines are kept or not", () => {
  const lines: Array<string> = [];
  const traced = runSeed({ seed: 3 }, { line: (line) => lines.push(line) });
  expect(traced.hash).toBe(runSeed({ seed: 3 }).hash);
  expect(lines.length).toBeGreaterThan(traced.events);
});

it("notices a run that depends on anything else than its seed", () => {
  let count = 0;
  const run = () =>
    runSeed(
      { seed: 1, schedule: "calm", crypto: "fast" },
      { tampering: { judged: (_world, _peer, check) => (++count % 97 === 0 ? { _tag: "Unavailable" } : check) } },
    ).hash;
  expect(sameHashes([1], [run()], [run()])?.id).toBe("S33");
});
