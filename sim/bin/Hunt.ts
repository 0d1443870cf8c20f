/** Many seeds in several processes, until they are used up or time is. */
import { fork } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { HuntOptions } from "../hunting/HuntOptions.ts";
import { HuntReport, type RunReport } from "../hunting/Report.ts";
import type { SeedRange } from "../hunting/Seeds.ts";
import { lostRun } from "./HuntRun.ts";
import type { Batch } from "./HuntWorker.ts";

/** Megabytes for young objects: a world makes little that lives long, so fewer and larger collections copy less. */
export const YOUNG_MEGABYTES = 64;
/**
 * How V8 keeps the objects of a process that runs one world after another. So little survives a collection of the
 * young ones that it would give them less and less room. And it would put objects of kinds that have lived long into
 * the old generation from the start: when their world is over, whatever they refer to is copied by every collection of
 * the young until a full collection comes.
 */
export const HEAP_FLAGS: ReadonlyArray<string> = [
  `--max-semi-space-size=${YOUNG_MEGABYTES}`,
  `--min-semi-space-size=${YOUNG_MEGABYTES}`,
  "--no-allocation-site-pretenuring",
];
/** Large enough that handing over costs nothing, small enough that processes end together. */
const BATCH_SEEDS = 8;

export interface Hunt {
  readonly seeds: SeedRange;
  readonly jobs: number;
  /** Milliseconds after which no more seeds are begun; by default unbounded. */
  readonly millis: number | undefined;
  readonly options: HuntOptions;
  /** Once it is aborted no more seeds are begun: those under way are the last. */
  readonly stop?: AbortSignal;
  /** Told after every batch. */
  readonly progress: (report: HuntReport) => void;
  /** The program of its processes; by default HuntWorker. */
  readonly worker?: string;
}

/** The program stands beside this file, as source under tsx (whose flags a child inherits) and compiled in dist. */
const WORKER = fileURLToPath(new URL(`./HuntWorker${extname(import.meta.url)}`, import.meta.url));

/**
 * Runs a hunt. An error thrown by a seed is a finding, and so is a process that ends in a seed: the seeds that it was
 * handed are run again alone, each in a process that may end. Rejects where no process can be started.
 */
export const hunt = async ({
  seeds,
  jobs,
  millis,
  options,
  stop,
  progress,
  worker = WORKER,
}: Hunt): Promise<HuntReport> => {
  const report = new HuntReport();
  const endsAt = millis === undefined ? Number.POSITIVE_INFINITY : performance.now() + millis;
  let next = seeds.first;
  /** Seeds that a process was running, among others, when it ended. */
  const suspects: Array<number> = [];
  const nextBatch = (): Batch | undefined => {
    const suspect = suspects.shift();
    if (suspect !== undefined) return { first: suspect, last: suspect, options };
    if (next > seeds.last || performance.now() >= endsAt || stop?.aborted === true) return undefined;
    const first = next;
    next = Math.min(first + BATCH_SEEDS, seeds.last + 1);
    return { first, last: next - 1, options };
  };
  /** Hands out batches until none is left or the process ends; resolves with the unfinished ones and how it ended. */
  const runProcess = (
    begun: Batch,
  ): Promise<{ readonly left: Batch | undefined; readonly end: number | string | null }> =>
    new Promise((resolve, reject) => {
      const child = fork(worker, {
        stdio: ["ignore", "ignore", "inherit", "ipc"],
        serialization: "advanced",
        execArgv: [...process.execArgv, ...HEAP_FLAGS],
      });
      let underWay: Batch | undefined;
      const give = (batch: Batch | undefined): void => {
        underWay = batch;
        if (batch === undefined) child.disconnect();
        // Its end tells whether it was still there to take the batch.
        else child.send(batch, () => undefined);
      };
      child.on("message", (runs: ReadonlyArray<RunReport>) => {
        for (const run of runs) report.add(run);
        progress(report);
        give(nextBatch());
      });
      child.on("error", (fault) => (child.pid === undefined ? reject(fault) : undefined));
      child.on("exit", (code, signal) => resolve({ left: underWay, end: signal ?? code }));
      give(begun);
    });
  const runLane = async (): Promise<void> => {
    for (let batch = nextBatch(); batch !== undefined; batch = nextBatch()) {
      const { left, end } = await runProcess(batch);
      if (left === undefined) continue;
      if (left.first === left.last) report.add(lostRun(left.first, options, end));
      else for (let seed = left.first; seed <= left.last; seed++) suspects.push(seed);
      progress(report);
    }
  };
  await Promise.all(Array.from({ length: jobs }, runLane));
  report.failures.sort((left, right) => left.seed - right.seed);
  return report;
};
