/** In how many runs of each schedule its own marks were met. */
import { isSchedule, scheduleNamed, type ScheduleName } from "../schedules/Schedules.ts";

/** What a schedule came to in a hunt. */
export interface Tally {
  readonly schedule: ScheduleName;
  readonly runs: number;
  /** By mark: runs that met it. */
  readonly met: Readonly<Record<string, number>>;
}

export class Tallies {
  readonly #tallies = new Map<ScheduleName, { runs: number; readonly met: Map<string, number> }>();

  /** Counts a run. A schedule that this version does not have is passed over. */
  add({ schedule, marks }: { readonly schedule: string; readonly marks: Iterable<readonly [string, number]> }): void {
    if (!isSchedule(schedule)) return;
    const reached = new Set(Array.from(marks, ([name]) => name));
    const met = Object.keys(scheduleNamed(schedule).marks).flatMap((name) => (reached.has(name) ? [[name, 1]] : []));
    this.addAll([{ schedule, runs: 1, met: Object.fromEntries(met) }]);
  }

  /** Adds what other runs came to. */
  addAll(others: Iterable<Tally>): void {
    for (const { schedule, runs, met } of others) {
      const tally = this.#tallies.get(schedule) ?? { runs: 0, met: new Map() };
      this.#tallies.set(schedule, tally);
      tally.runs += runs;
      for (const [name, count] of Object.entries(met)) tally.met.set(name, (tally.met.get(name) ?? 0) + count);
    }
  }

  /** In the order of the schedules' names. */
  entries(): ReadonlyArray<Tally> {
    return [...this.#tallies]
      .map(([schedule, { runs, met }]) => ({ schedule, runs, met: Object.fromEntries(met) }))
      .toSorted((left, right) => (left.schedule < right.schedule ? -1 : 1));
  }
}

/** A mark that a schedule has met less often than it is to. */
export interface Seldom {
  readonly schedule: ScheduleName;
  readonly mark: string;
  readonly runs: number;
  readonly met: number;
  /** One run in so many is to meet it. */
  readonly oneIn: number;
}

/** After so many times the runs that one mark needs, luck says nothing any more. */
const ENOUGH_TIMES = 10;

/**
 * The marks that a schedule met too seldom.
 *
 * @param isRequired judges however few runs there were; otherwise there have to be enough of them
 */
export const seldomOf = ({ schedule, runs, met }: Tally, isRequired: boolean): ReadonlyArray<Seldom> =>
  Object.entries(scheduleNamed(schedule).marks).flatMap(([mark, oneIn]) => {
    const times = met[mark] ?? 0;
    const isJudged = isRequired ? runs >= oneIn : runs >= ENOUGH_TIMES * oneIn;
    return isJudged && times < Math.floor(runs / oneIn) ? [{ schedule, mark, runs, met: times, oneIn }] : [];
  });

/** One line for each schedule: its runs, and how many of them met each of its marks. */
export const tallyLines = (tallies: ReadonlyArray<Tally>): ReadonlyArray<string> =>
  tallies.map(({ schedule, runs, met }) => {
    const marks = Object.keys(scheduleNamed(schedule).marks).map((name) => `${met[name] ?? 0} ${name}`);
    return `  ${String(runs).padStart(9)}  ${schedule}${marks.length === 0 ? "" : `: ${marks.join("; ")}`}`;
  });
