/** A process of a hunt: runs the seeds it is handed, one batch after the other. */
import { reportOf, type RunReport } from "../Report.ts";
import type { Mode } from "../Plan.ts";
import type { ScheduleName } from "../Schedules.ts";
import { runSeed } from "../Simulation.ts";

/** What every run of a hunt has in common. */
export interface HuntOptions {
  readonly schedule: ScheduleName | undefined;
  readonly peers: number | undefined;
  readonly mode: Mode | undefined;
  readonly steps: number | undefined;
  readonly real: boolean | undefined;
}

export interface Batch {
  readonly first: number;
  readonly last: number;
  readonly options: HuntOptions;
}

const run = ({ first, last, options }: Batch): ReadonlyArray<RunReport> =>
  Array.from({ length: last - first + 1 }, (_, index) =>
    reportOf(runSeed({ seed: first + index, ...options }), { steps: options.steps, real: options.real }),
  );

/** Nobody waits for the rest once the parent is gone; it may be gone in the middle of a batch. */
const stop = (): never => process.exit();

process.on("message", (batch: Batch) =>
  process.send?.(run(batch), undefined, undefined, (failure) => failure !== null && stop()),
);
process.on("disconnect", stop);
