/** A process of a hunt: runs the seeds it is handed, one batch after the other. */
import type { HuntOptions } from "../hunting/HuntOptions.ts";
import type { RunReport } from "../hunting/Report.ts";
import { runOf } from "./HuntRun.ts";

export interface Batch {
  readonly first: number;
  readonly last: number;
  readonly options: HuntOptions;
}

const run = ({ first, last, options }: Batch): ReadonlyArray<RunReport> =>
  Array.from({ length: last - first + 1 }, (_, index) => runOf(first + index, options));

/** Once the parent is gone, perhaps in the middle of a batch, nobody waits for the rest. */
const stop = (): never => process.exit();

process.on("message", (batch: Batch) =>
  process.send?.(run(batch), undefined, undefined, (failure) => failure !== null && stop()),
);
process.on("disconnect", stop);
// Those of a terminal reach every process of a hunt: its own ends it, once what is under way is done.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);
