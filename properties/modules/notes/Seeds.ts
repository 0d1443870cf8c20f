/** Seeds of worlds whose callers leave notes beside everything else. */
import { nativeBackend } from "../../../sim/bin/NativeBackend.ts";
import { Census } from "../../../sim/base/Census.ts";
import type { Product } from "../../../sim/models/Product.ts";
import type { RunOptions } from "../../../sim/run/RunOptions.ts";
import type { ScheduleName } from "../../../sim/schedules/Schedules.ts";
import { runSeed } from "../../../sim/run/Simulation.ts";
import type { Violation } from "../../../sim/base/Violation.ts";

/** The last of every eight seeds is of one of these; the others are of the default mix. */
const RESTORES: ReadonlyArray<ScheduleName> = [
  "restores-everywhere",
  "double-declared-restore",
  "restores-beside-an-end",
  "recover-under-load",
];
const OF_RESTORES = 8;

/** The schedule of a seed in the mix of these worlds; undefined for the default. */
export const scheduleOf = (seed: number): ScheduleName | undefined =>
  seed % OF_RESTORES === 0 ? RESTORES[(seed / OF_RESTORES) % RESTORES.length] : undefined;

export interface Found {
  readonly marks: Census;
  /** The first seed that failed, and its finding; absent where none did. */
  readonly failure: { readonly seed: number; readonly violation: Violation } | undefined;
}

/** Runs seeds until one fails. */
export const runSeeds = (
  product: Product,
  { first, last }: { readonly first: number; readonly last: number },
  optionsOf: (seed: number) => Omit<RunOptions, "seed">,
): Found => {
  const marks = new Census();
  for (let seed = first; seed <= last; seed++) {
    const result = runSeed({ seed, ...optionsOf(seed) }, { product, backend: nativeBackend });
    marks.addAll(result.marks);
    if (result.violation !== undefined) return { marks, failure: { seed, violation: result.violation } };
  }
  return { marks, failure: undefined };
};
