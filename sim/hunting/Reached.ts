/** Whether a schedule does what it is named for, asked with as few runs as that takes. */
import { runSeed } from "../run/Simulation.ts";
import { scheduleNamed, type ScheduleName } from "../schedules/Schedules.ts";

/** How one mark of a schedule stands. */
export interface Reached {
  readonly mark: string;
  /** The first of its runs, from seed 1, that met it; absent where none did of as many as it may take. */
  readonly seed: number | undefined;
  readonly oneIn: number;
}

/**
 * Runs seeds from 1 until every mark of a schedule has been met once, and no more than the mark that may take the most
 * of them. An error or a violation in a run is thrown: then marks say nothing.
 */
export const reachedIn = (schedule: ScheduleName): ReadonlyArray<Reached> => {
  const { marks: wanted, isSealed = false } = scheduleNamed(schedule);
  const marks = Object.entries(wanted);
  const seeds = new Map<string, number>();
  const isOpen = (seed: number): boolean => marks.some(([mark, oneIn]) => seed <= oneIn && !seeds.has(mark));
  for (let seed = 1; isOpen(seed); seed++) {
    // Bulk runs seal no rows.
    const { marks: met, violation } = runSeed({ seed, schedule, crypto: isSealed ? "codec" : "fast" });
    if (violation !== undefined) throw violation;
    for (const [mark] of met) if (!seeds.has(mark)) seeds.set(mark, seed);
  }
  return marks.map(([mark, oneIn]) => {
    const seed = seeds.get(mark);
    return { mark, oneIn, seed: seed !== undefined && seed <= oneIn ? seed : undefined };
  });
};
