/**
 * How strong the simulator is: every planted bug, whether the default mix finds it, after how many seeds, and how small
 * its failure becomes. `npm run sim:strength -- --help`.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Effect } from "effect";
import { isFoundAs, type PlantedBug } from "../bugs/PlantedBug.ts";
import { plantedBugOptions, plantedBugs } from "../bugs/PlantedBugs.ts";
import type { RunOptions } from "../run/RunOptions.ts";
import { runSeed } from "../run/Simulation.ts";
import { scheduleOf } from "../schedules/Mix.ts";
import { tapeOptions } from "../tape/Tape.ts";
import { record, type Recording } from "../tape/TapeRun.ts";
import { Misuse, positive, printLine, runScript, type Script } from "./Script.ts";
import { costOf, shrink, type Shrunk } from "../shrink/Shrink.ts";
import { backendOf } from "./NativeBackend.ts";
import { keepFailure, SHRINK_EVENTS } from "./Shrinking.ts";
import { boundsOf, type Judged, MOST_SEEDS, MOST_SIZE } from "./StrengthBounds.ts";
import { type Strength, withStrengths } from "./StrengthTable.ts";

/** Seeds of the default mix that are all run; of later ones, only those that draw the bug's own schedule. */
const ALL_RUN = 150;
/** Where the budget does not make the first failure minimal: so many others are looked for, in so many more runs. */
const OTHERS = { failures: 5, runs: 100 } as const;
/** What is larger than is asked of any then has so many times the budget. */
const LONGER = 8;

const help = `npm run sim:strength -- [--bug NAME]... [--schedule mix|own] [--seeds N] [--shrink EVENTS] [--tapes DIR] [--table FILE]

  --bug NAME       only this bug, and no bounds on sizes and medians; may be given several times
  --schedule own   look in the schedule of each bug, for its own invariant; without it in the default mix, for any:
                   in all of its first ${ALL_RUN} seeds, then in those that draw that schedule ("<=": it may show earlier)
  --seeds N        seeds to look in at most; ${MOST_SEEDS} without
  --shrink EVENTS  events and requests of the smaller runs of each, together; ${SHRINK_EVENTS} without. Where more
                   might be taken from the first failure, as many for the shortest of the next ${OTHERS.failures} (in
                   ${OTHERS.runs} runs), and the smaller of both counts; above ${MOST_SIZE} deviations, ${LONGER} times as many for that
  --tapes DIR      write the tape of each smallest failure to DIR/NAME.tape
  --table FILE     write what was found into the table of this page (docs/strength.md)

Ends with 0 when every bug was found, and sizes and medians are within bounds (no size
above 60 deviations, medians of at most 100 seeds and 5 deviations); 1 when not, naming them; 2 on wrong usage.
`;

interface Row {
  readonly bug: string;
  readonly invariant: string;
  readonly found: string;
  readonly seeds: string;
  readonly before: string;
  readonly after: string;
  readonly seconds: string;
}

const places = ["mix", "own"] as const;
/** Where a bug is looked for: in the default mix, or in its own schedule. */
type Where = (typeof places)[number];

const isPlace = (text: string): text is Where => places.some((each) => each === text);

const optionsOf = (bug: PlantedBug, where: Where, seed: number): RunOptions =>
  where === "mix" ? { seed } : plantedBugOptions(bug, seed);

const isWorthRunning = (bug: PlantedBug, where: Where, seed: number): boolean =>
  where === "own" || seed <= ALL_RUN || scheduleOf({ seed }) === plantedBugOptions(bug, seed).schedule;

interface FirstSeed {
  readonly seed: number;
  /** Every seed before it was run; otherwise the bug may show earlier. */
  readonly isFirst: boolean;
}

/** Whether a run breaks an invariant with the bug and breaks none without it. */
const shows = (bug: PlantedBug, options: RunOptions): boolean => {
  const backend = backendOf(options.seed);
  return (
    runSeed(options, { tampering: bug.tampering(), backend }).violation !== undefined &&
    runSeed(options, { backend }).violation === undefined
  );
};

/** A seed in which a bug shows; undefined where none of so many seeds was found. */
const seedOf = (bug: PlantedBug, where: Where, most: number): FirstSeed | undefined => {
  for (let seed = 1; seed <= most; seed++) {
    if (!isWorthRunning(bug, where, seed)) continue;
    if (shows(bug, optionsOf(bug, where, seed))) return { seed, isFirst: where === "own" || seed <= ALL_RUN };
  }
  return undefined;
};

const failureOf = (bug: PlantedBug, where: Where, seed: number): Recording =>
  record(tapeOptions(optionsOf(bug, where, seed), bug.name), { backend: backendOf(seed) });

const sizeOf = ({ recording }: Shrunk): number => recording.deviations.length;

/** The shortest of a few failures of the same invariant in later seeds, if there is one. */
const shortestAfter = (bug: PlantedBug, where: Where, failing: Recording): Recording | undefined => {
  const others: Array<Recording> = [];
  let runs = 0;
  for (let seed = failing.options.seed + 1; seed <= MOST_SEEDS; seed++) {
    if (runs === OTHERS.runs || others.length === OTHERS.failures) break;
    if (!isWorthRunning(bug, where, seed)) continue;
    runs += 1;
    if (!shows(bug, optionsOf(bug, where, seed))) continue;
    const other = failureOf(bug, where, seed);
    if (other.result.violation?.id === failing.result.violation?.id) others.push(other);
  }
  return others.toSorted((left, right) => costOf(left) - costOf(right))[0];
};

interface Smallest {
  readonly failing: Recording;
  readonly shrunk: Shrunk;
}

/**
 * What a failure becomes within a budget; where it does not become minimal, the smaller of that and of a shorter one's,
 * and that within a longer budget where it is larger than is asked of any.
 */
const smallestOf = (bug: PlantedBug, failing: Recording, { where, mostEvents }: Measuring): Smallest => {
  const smaller = (from: Recording, budget: number): Smallest => ({
    failing: from,
    shrunk: shrink(from, { mostEvents: budget, backend: backendOf(from.options.seed) }),
  });
  const first = smaller(failing, mostEvents);
  const shorter = first.shrunk.isMinimal ? undefined : shortestAfter(bug, where, failing);
  const both = shorter === undefined ? [first] : [first, smaller(shorter, mostEvents)];
  const best = both.reduce((one, other) => (sizeOf(other.shrunk) < sizeOf(one.shrunk) ? other : one));
  if (best.shrunk.isMinimal || sizeOf(best.shrunk) <= MOST_SIZE) return best;
  return { ...best, shrunk: smaller(best.shrunk.recording, LONGER * mostEvents).shrunk };
};

interface Measured {
  readonly row: Row;
  readonly judged: Judged;
  /** Absent where it was not found. */
  readonly strength?: Strength;
}

interface Measuring {
  readonly where: Where;
  readonly seeds: number;
  readonly mostEvents: number;
  readonly tapes: string | undefined;
}

const measure = (bug: PlantedBug, measuring: Measuring): Measured => {
  const { where, seeds, tapes } = measuring;
  const first = seedOf(bug, where, seeds);
  if (first === undefined)
    return {
      row: {
        bug: bug.name,
        invariant: bug.finds,
        found: "NO",
        seeds: `> ${seeds}`,
        before: "",
        after: "",
        seconds: "",
      },
      judged: { bug: bug.name, seed: Number.POSITIVE_INFINITY, size: Number.POSITIVE_INFINITY },
    };
  const { seed, isFirst } = first;
  const startedAt = performance.now();
  const { failing, shrunk } = smallestOf(bug, failureOf(bug, where, seed), measuring);
  const seconds = (performance.now() - startedAt) / 1000;
  if (tapes !== undefined) Effect.runSync(keepFailure(failing, shrunk, join(tapes, `${bug.name}.tape`)));
  const id = failing.result.violation?.id;
  const deviations = sizeOf(shrunk);
  const isFound = where === "mix" || isFoundAs(bug, id);
  return {
    row: {
      bug: bug.name,
      invariant: bug.finds,
      found: id === bug.finds ? "yes" : `as ${id}`,
      seeds: `${isFirst ? "" : "<= "}${seed}`,
      before: String(failing.deviations.length),
      after: `${deviations}${shrunk.isMinimal ? "" : " (of more)"}`,
      seconds: seconds.toFixed(1),
    },
    judged: { bug: bug.name, seed: isFound ? seed : Number.POSITIVE_INFINITY, size: deviations },
    strength: {
      bug: bug.name,
      invariant: String(id),
      seed,
      isFirst,
      before: failing.deviations.length,
      after: deviations,
      isMinimal: shrunk.isMinimal,
    },
  };
};

const header: Row = {
  bug: "bug",
  invariant: "breaks",
  found: "found",
  seeds: "seeds",
  before: "deviations",
  after: "after shrinking",
  seconds: "seconds",
};

const lineOf = (row: Row): string =>
  [
    row.bug.padEnd(28),
    row.invariant.padEnd(7),
    row.found.padEnd(8),
    row.seeds.padStart(7),
    row.before.padStart(11),
    row.after.padStart(16),
    row.seconds.padStart(8),
  ]
    .join(" ")
    .trimEnd();

const options = {
  bug: { type: "string", multiple: true },
  schedule: { type: "string", default: "mix" },
  seeds: { type: "string", default: String(MOST_SEEDS) },
  shrink: { type: "string", default: String(SHRINK_EVENTS) },
  tapes: { type: "string" },
  table: { type: "string" },
} as const;

/** Writes one row into the table of a page. */
const enter = (page: string, strength: Strength): void => {
  const order = plantedBugs.map(({ name }) => name);
  writeFileSync(page, withStrengths(readFileSync(page, "utf8"), [strength], order));
};

const main: Script<typeof options>["main"] = (values) => {
  const wanted = values.bug ?? plantedBugs.map(({ name }) => name);
  const unknown = wanted.find((name) => !plantedBugs.some((bug) => bug.name === name));
  if (unknown !== undefined) throw new Misuse(`--bug ${unknown}: there is no such planted bug`);
  const where = values.schedule;
  if (!isPlace(where)) throw new Misuse(`--schedule must be one of ${places.join(" and ")}`);
  const seeds = positive(values.seeds, "seeds");
  const mostEvents = positive(values.shrink, "shrink");
  if (values.tapes !== undefined) mkdirSync(values.tapes, { recursive: true });
  printLine(lineOf(header));
  const measured = plantedBugs
    .filter(({ name }) => wanted.includes(name))
    .map((bug) => {
      const each = measure(bug, { where, seeds, mostEvents, tapes: values.tapes });
      printLine(lineOf(each.row));
      // One after the other, so that whoever ends this early has the rows that were measured.
      if (values.table !== undefined && each.strength !== undefined) enter(values.table, each.strength);
      return each;
    });
  const { reached, unfound, missed } = boundsOf(measured.map(({ judged }) => judged));
  // Bounds are for all together; of some bugs it is asked whether they are found.
  const red = values.bug === undefined ? missed : unfound;
  for (const line of [reached, ...red]) printLine(line);
  return red.length === 0 ? 0 : 1;
};

await runScript({ help, options, main });
