/** Many seeds in several processes, until they are used up or time is. */
import { fork } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { HuntReport, type RunReport } from "../Report.ts";
import type { SeedRange } from "../Seeds.ts";
import type { HuntOptions } from "./HuntRun.ts";
import type { Batch } from "./HuntWorker.ts";

/** Megabytes for young objects: a world makes little that lives long, so fewer and larger collections copy less. */
export const YOUNG_MEGABYTES = 64;
/**
 * How V8 keeps the objects of a process that runs one world after the other. So little lives through a collection of
 * the young that it would give them less and less room. And it would make objects of kinds that have lived long in the
 * old generation from the start: when their world is over, whatever they lead to is copied by every collection of the
 * young until one of everything comes.
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
  /** Milliseconds after which no more seeds are begun; no bound without. */
  readonly millis: number | undefined;
  readonly options: HuntOptions;
  /** Told after every batch. */
  readonly progress: (report: HuntReport) => void;
}

/** Runs a hunt. Rejects when the simulator itself fails, which is no finding but a mistake in it. */
export const hunt = ({ seeds, jobs, millis, options, progress }: Hunt): Promise<HuntReport> => {
  const report = new HuntReport();
  const endsAt = millis === undefined ? Number.POSITIVE_INFINITY : performance.now() + millis;
  let next = seeds.first;
  const nextBatch = (): Batch | undefined => {
    if (next > seeds.last || performance.now() >= endsAt) return undefined;
    const first = next;
    next = Math.min(first + BATCH_SEEDS, seeds.last + 1);
    return { first, last: next - 1, options };
  };
  // It stands beside this file, as source under tsx (whose flags a child inherits) and compiled in dist.
  const script = fileURLToPath(new URL(`./HuntWorker${extname(import.meta.url)}`, import.meta.url));
  const runProcess = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = fork(script, {
        stdio: ["ignore", "ignore", "inherit", "ipc"],
        serialization: "advanced",
        execArgv: [...process.execArgv, ...HEAP_FLAGS],
      });
      const give = (): void => {
        const batch = nextBatch();
        if (batch === undefined) worker.disconnect();
        else worker.send(batch);
      };
      worker.on("message", (runs: ReadonlyArray<RunReport>) => {
        for (const run of runs) report.add(run);
        progress(report);
        give();
      });
      worker.on("error", reject);
      worker.on("exit", (code) =>
        code === 0 ? resolve() : reject(new Error("the simulator itself failed; see above")),
      );
      give();
    });
  return Promise.all(Array.from({ length: jobs }, runProcess)).then(() => {
    report.failures.sort((left, right) => left.seed - right.seed);
    return report;
  });
};
