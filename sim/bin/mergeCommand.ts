/** `custody sim merge`: the shards of one hunt, added up. */
import { readFileSync, statSync } from "node:fs";
import * as Args from "@effect/cli/Args";
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Either } from "effect";
import { type HuntFile, mergeHunts, type Merged, MOST_HUNT_BYTES, parseHuntFile } from "../hunting/HuntFile.ts";
import { isWhole } from "../hunting/HuntOptions.ts";
import { calledAs, huntCountLines, failureLines, seedsText } from "../hunting/Report.ts";
import { type Coverage, coverageOf } from "../hunting/Sometimes.ts";
import { program } from "./Program.ts";
import { endAsFailed, misused, write } from "./Terminal.ts";

const files = Args.text({ name: "HUNT.json" }).pipe(
  Args.withDescription("What a shard printed with --json."),
  Args.atLeast(1),
);

const options = {
  sometimes: Options.choice("sometimes", ["report", "require"]).pipe(
    Options.withDescription(
      "Whether marks met too seldom and rare situations that no shard reached make the hunt fail however short it is.",
    ),
    Options.withDefault("report" as const),
  ),
  json: Options.boolean("json").pipe(Options.withDescription("Print the result as one line of JSON.")),
};

const reasonOf = (fault: unknown): string => (fault instanceof Error ? fault.message : String(fault));

const readHunt = (name: string) =>
  Effect.gen(function* () {
    const content = yield* Effect.try(() => {
      if (statSync(name).size > MOST_HUNT_BYTES) throw new Error(`it has more than ${MOST_HUNT_BYTES} bytes`);
      return readFileSync(name, "utf8");
    }).pipe(Effect.catchAll(({ error }) => misused(`${name} cannot be read: ${reasonOf(error)}`)));
    const hunt = yield* Effect.catchAll(parseHuntFile(content), (why) =>
      misused(`${name} is no result of a hunt: ${why}`),
    );
    return { name, hunt };
  });

const gapText = ({ first, last }: { readonly first: number; readonly last: number }): string =>
  first === last ? `seed ${first}` : `seeds ${first}..${last}`;

const linesOf = ({ report, commit, gaps, cutShort, tapes }: Merged, coverage: Coverage): ReadonlyArray<string> => [
  ...huntCountLines(report),
  `commit ${commit}: ${seedsText(report)}, ${report.events} events, hash ${report.hash}`,
  ...gaps.map((gap) => `nobody was asked to run ${gapText(gap)}`),
  ...(cutShort === 0 ? [] : [`${cutShort} shards ended before all of their seeds were run`]),
  ...report.failures.flatMap((each) => failureLines(program.name, each)),
  ...tapes.map(({ file, seed, deviations }) => `tape of seed ${seed}: ${file}, ${deviations} deviations`),
  ...coverage.lines,
  report.failures.length === 0 ? "no violation" : `${report.failures.length} seeds failed`,
];

const jsonOf = ({ report, commit, options: given, gaps, cutShort, tapes }: Merged, coverage: Coverage) => ({
  commit,
  options: given,
  seeds: report.seeds,
  codecSeeds: report.codecSeeds,
  realSeeds: report.realSeeds,
  events: report.events,
  hash: report.hash,
  gaps,
  cutShort,
  faults: Object.fromEntries(report.faults.entries()),
  marks: Object.fromEntries(report.marks.entries()),
  tallies: report.tallies.entries(),
  sometimes: {
    points: coverage.points,
    missing: coverage.missing.map(({ name }) => name),
    seldom: coverage.seldom,
    isRed: coverage.isRed,
  },
  failures: report.failures.map((each) => calledAs(program.name, each)),
  tapes,
});

const given = ({ schedule, peers, mode, steps, crypto, bug }: HuntFile["options"]) => ({
  schedule: schedule ?? undefined,
  peers: peers ?? undefined,
  mode: mode ?? undefined,
  steps: steps ?? undefined,
  crypto: crypto ?? undefined,
  bug: bug ?? undefined,
});

export const mergeCommand = Command.make(
  "merge",
  { files, ...options },
  ({ files: names, sometimes: demanded, json }) =>
    Effect.gen(function* () {
      const hunts = yield* Effect.forEach(names, readHunt);
      const merged = yield* Either.match(mergeHunts(hunts), { onLeft: misused, onRight: Effect.succeed });
      const { report } = merged;
      const coverage = coverageOf(
        { seeds: report.seeds, marks: report.marks.entries(), tallies: report.tallies.entries() },
        demanded === "require",
        { schedule: merged.options.schedule ?? undefined, isWhole: isWhole(given(merged.options)) },
      );
      yield* write(json ? [JSON.stringify(jsonOf(merged, coverage))] : linesOf(merged, coverage));
      if (report.failures.length > 0 || coverage.isRed) yield* endAsFailed;
    }),
).pipe(Command.withDescription("Add up what the shards of one hunt printed with --json."));
