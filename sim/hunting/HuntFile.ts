/**
 * The result of a hunt as JSON: `custody sim run --json` prints it, and `custody sim merge` adds several up. A file may
 * come from another machine: it is read strictly and within bounds, and refused by the name of the field.
 */
import { Either, ParseResult, Schema } from "effect";
import type { HuntOptions } from "./HuntOptions.ts";
import { modes } from "../base/Plan.ts";
import { plantedBugs } from "../bugs/PlantedBugs.ts";
import { HuntReport } from "./Report.ts";
import { scheduleNames } from "../schedules/Schedules.ts";
import type { SeedRange } from "./Seeds.ts";
import { tiers } from "../base/Tier.ts";

const VERSION = 3;
/** Bytes of one file; a thousand failures take one megabyte. */
export const MOST_HUNT_BYTES = 16 * 1024 * 1024;
const MOST_TEXT = 1_024;
const MOST_NAMES = 1_024;
const MOST_FAILURES = 10_000;

const text = Schema.String.pipe(Schema.maxLength(MOST_TEXT));
const whole = Schema.Number.pipe(Schema.int(), Schema.between(0, Number.MAX_SAFE_INTEGER));
const word = Schema.Number.pipe(Schema.int(), Schema.between(-(2 ** 31), 2 ** 31 - 1));
const counts = Schema.Record({ key: text, value: whole }).pipe(
  Schema.filter((record) => Object.keys(record).length <= MOST_NAMES || `at most ${MOST_NAMES} names`),
);
const pairs = Schema.Array(Schema.Tuple(text, whole)).pipe(Schema.maxItems(MOST_NAMES));
const hash = Schema.String.pipe(Schema.pattern(/^[0-9a-f]{16}$/));

const failure = Schema.Struct({
  seed: whole,
  schedule: text,
  peers: whole,
  mode: text,
  crypto: Schema.Literal(...tiers),
  hash,
  events: whole,
  faults: pairs,
  marks: pairs,
  violation: Schema.UndefinedOr(Schema.Struct({ id: text, facts: Schema.Tuple(Schema.String, Schema.String) })),
  replay: text,
});

const tape = Schema.Struct({ seed: whole, file: text, deviations: whole, runs: whole, isMinimal: Schema.Boolean });

const fileSchema = Schema.Struct({
  version: Schema.Literal(VERSION),
  commit: text,
  options: Schema.Struct({
    schedule: Schema.NullOr(Schema.Literal(...scheduleNames)),
    peers: Schema.NullOr(whole),
    mode: Schema.NullOr(Schema.Literal(...modes)),
    steps: Schema.NullOr(whole),
    crypto: Schema.NullOr(Schema.Literal(...tiers)),
    bug: Schema.NullOr(Schema.Literal(...plantedBugs.map(({ name }) => name))),
  }),
  /** The seeds that were asked for, and how many were run before time was up. */
  first: whole,
  last: whole,
  seeds: whole,
  codecSeeds: whole,
  realSeeds: whole,
  events: whole,
  millis: whole,
  hash,
  hashSums: Schema.Tuple(word, word),
  faults: counts,
  marks: counts,
  tallies: Schema.Array(Schema.Struct({ schedule: Schema.Literal(...scheduleNames), runs: whole, met: counts })).pipe(
    Schema.maxItems(scheduleNames.length),
  ),
  sometimes: Schema.Struct({
    points: whole,
    missing: Schema.Array(text),
    seldom: Schema.Array(text),
    isRed: Schema.Boolean,
  }),
  failures: Schema.Array(failure).pipe(Schema.maxItems(MOST_FAILURES)),
  tapes: Schema.Array(tape).pipe(Schema.maxItems(MOST_FAILURES)),
});
export type HuntFile = typeof fileSchema.Type;

const decode = Schema.decodeUnknownEither(Schema.parseJson(fileSchema), { onExcessProperty: "error" });

/** Reads a file; the left side names the field that is wrong, and what is expected there. */
export const parseHuntFile = (content: string): Either.Either<HuntFile, string> =>
  content.length > MOST_HUNT_BYTES
    ? Either.left(`it has more than ${MOST_HUNT_BYTES} characters`)
    : Either.mapLeft(decode(content), (error) => {
        const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error);
        const field = issue?.path.map(String).join(".") ?? "";
        return `${field === "" ? "the file" : `field "${field}"`}: ${issue?.message ?? "it does not fit"}`;
      });

/** The options of a hunt in the form of the file: options that were left to the seed are null. */
export const optionsOf = ({ schedule, peers, mode, steps, crypto, bug }: HuntOptions): HuntFile["options"] => ({
  schedule: schedule ?? null,
  peers: peers ?? null,
  mode: mode ?? null,
  steps: steps ?? null,
  crypto: crypto ?? null,
  // It was checked where it was given.
  bug: (bug ?? null) as HuntFile["options"]["bug"],
});

/** Several hunts as one. */
export interface Merged {
  readonly report: HuntReport;
  readonly options: HuntFile["options"];
  readonly commit: string;
  /** Seeds between the first and the last that no hunt was asked to run. */
  readonly gaps: ReadonlyArray<SeedRange>;
  /** Files whose time was up before their seeds were. */
  readonly cutShort: number;
  readonly tapes: HuntFile["tapes"];
}

/** What keeps two hunts from being parts of one. */
const difference = (one: HuntFile, other: HuntFile): string | undefined => {
  if (one.commit !== other.commit) return `it was made by commit ${other.commit}, the others by ${one.commit}`;
  for (const name of Object.keys(one.options) as ReadonlyArray<keyof HuntFile["options"]>)
    if (one.options[name] !== other.options[name])
      return `its option ${name} is ${other.options[name] ?? "left to the seed"}, that of the others ${one.options[name] ?? "left to the seed"}`;
  return undefined;
};

/** Adds hunts up, in any order; the left side says which one does not belong to the others. */
export const mergeHunts = (
  files: ReadonlyArray<{ readonly name: string; readonly hunt: HuntFile }>,
): Either.Either<Merged, string> => {
  const sorted = files.toSorted((left, right) => left.hunt.first - right.hunt.first);
  const [first] = sorted;
  if (first === undefined) return Either.left("there is nothing to merge");
  const report = new HuntReport();
  const gaps: Array<SeedRange> = [];
  let before = first;
  for (const each of sorted) {
    const { name, hunt } = each;
    const found = difference(first.hunt, hunt);
    if (found !== undefined) return Either.left(`${name}: ${found}`);
    if (each !== first) {
      if (hunt.first <= before.hunt.last)
        return Either.left(`${name}: its seeds from ${hunt.first} on are in ${before.name} too`);
      if (hunt.first > before.hunt.last + 1) gaps.push({ first: before.hunt.last + 1, last: hunt.first - 1 });
    }
    report.addAll({ ...hunt, faults: Object.entries(hunt.faults), marks: Object.entries(hunt.marks) });
    before = each;
  }
  return Either.right({
    report,
    options: first.hunt.options,
    commit: first.hunt.commit,
    gaps,
    cutShort: sorted.filter(({ hunt }) => hunt.seeds < hunt.last - hunt.first + 1).length,
    tapes: sorted.flatMap(({ hunt }) => hunt.tapes),
  });
};
