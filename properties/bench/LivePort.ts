/**
 * Loaded into a measured process before its own code, and into nothing else: at a signal it collects garbage and writes
 * down what is left. V8 lets garbage stand while there is room, so resident memory alone shows no leak and hides none.
 */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread } from "node:worker_threads";

const folder = process.env["BENCH_PORT"] ?? "";

if (isMainThread) {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  process.on("SIGUSR2", () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    appendFileSync(join(folder, `live-${process.pid}`), `${heapUsed + external}\n`);
  });
}
