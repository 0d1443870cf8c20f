/**
 * How strong the checkers are: every planted bug, whether it is found, after how
 * many seeds, and how small its failure becomes. `npm run sim:strength -- --help`.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Effect } from "effect";
import { isFoundAs, type PlantedBug } from "../bugs/PlantedBug.ts";
import { plantedBugOptions, plantedBugs } from "../bugs/PlantedBugs.ts";
import { runSeed } from "../run/Simulation.ts";
import { tapeOptions } from "../tape/Tape.ts";
import { record } from "../tape/TapeRun.ts";
import { Misuse, positive, printLine, runScript, type Script } from "./Script.ts";
import { shrink } from "../shrink/Shrink.ts";
import { backendOf } from "./NativeBackend.ts";
import { keepFailure, SHRINK_EVENTS } from "./Shrinking.ts";
import { type Strength, withStrengths } from "./StrengthTable.ts";

const MOST_SEEDS = 10_000;

const help = `npm run sim:strength -- [--bug NAME]... [--seeds N] [--shrink EVENTS] [--tapes DIR] [--table FILE]

  --bug NAME       only this bug; may be given several times
  --seeds N        seeds to look in at most; ${MOST_SEEDS} without
  --shrink EVENTS  events and requests of the smaller runs of each, together; ${SHRINK_EVENTS} without
  --tapes DIR      write the tape of each smallest failure to DIR/NAME.tape
  --table FILE     write what was found into the table of this page (docs/strength.md)

Ends with 0 when every bug was found under its invariant, 1 when one was not, 2 on wrong usage.
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

/** The first seed in which a bug shows. */
const seedOf = (bug: PlantedBug, most: number): number | undefined => {
  for (let seed = 1; seed <= most; seed++)
    if (runSeed(plantedBugOptions(bug, seed), { tampering: bug.tampering() }).violation !== undefined) return seed;
  return undefined;
};

interface Measured {
  readonly row: Row;
  readonly isFound: boolean;
  readonly deviations: number;
  /** Absent where it was not found. */
  readonly strength?: Strength;
}

const measure = (bug: PlantedBug, seeds: number, mostEvents: number, tapes: string | undefined): Measured => {
  const seed = seedOf(bug, seeds);
  if (seed === undefined)
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
      isFound: false,
      deviations: Number.POSITIVE_INFINITY,
    };
  const failing = record(tapeOptions(plantedBugOptions(bug, seed), bug.name));
  const startedAt = performance.now();
  const shrunk = shrink(failing, { mostEvents, backend: backendOf(seed) });
  const seconds = (performance.now() - startedAt) / 1000;
  if (tapes !== undefined) Effect.runSync(keepFailure(failing, shrunk, join(tapes, `${bug.name}.tape`)));
  const id = failing.result.violation?.id;
  const deviations = shrunk.recording.deviations.length;
  return {
    row: {
      bug: bug.name,
      invariant: bug.finds,
      found: id === bug.finds ? "yes" : `as ${id}`,
      seeds: String(seed),
      before: String(failing.deviations.length),
      after: `${deviations}${shrunk.isMinimal ? "" : " (of more)"}`,
      seconds: seconds.toFixed(1),
    },
    isFound: isFoundAs(bug, id),
    deviations,
    strength: {
      bug: bug.name,
      invariant: String(id),
      seed,
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
  seeds: { type: "string", default: String(MOST_SEEDS) },
  shrink: { type: "string", default: String(SHRINK_EVENTS) },
  tapes: { type: "string" },
  table: { type: "string" },
} as const;

const main: Script<typeof options>["main"] = (values) => {
  const wanted = values.bug ?? plantedBugs.map(({ name }) => name);
  const unknown = wanted.find((name) => !plantedBugs.some((bug) => bug.name === name));
  if (unknown !== undefined) throw new Misuse(`--bug ${unknown}: there is no such planted bug`);
  const seeds = positive(values.seeds, "seeds");
  const mostEvents = positive(values.shrink, "shrink");
  if (values.tapes !== undefined) mkdirSync(values.tapes, { recursive: true });
  printLine(lineOf(header));
  const measured = plantedBugs
    .filter(({ name }) => wanted.includes(name))
    .map((bug) => {
      const each = measure(bug, seeds, mostEvents, values.tapes);
      printLine(lineOf(each.row));
      return each;
    });
  if (values.table !== undefined) {
    const strengths = measured.flatMap(({ strength }) => strength ?? []);
    const order = plantedBugs.map(({ name }) => name);
    writeFileSync(values.table, withStrengths(readFileSync(values.table, "utf8"), strengths, order));
  }
  const sizes = measured.map(({ deviations }) => deviations).toSorted((left, right) => left - right);
  const found = measured.filter(({ isFound }) => isFound).length;
  printLine(
    `${found} of ${measured.length} found, median ${sizes[Math.floor(sizes.length / 2)]} deviations after shrinking`,
  );
  return found === measured.length ? 0 : 1;
};

await runScript({ help, options, main });
