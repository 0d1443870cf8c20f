/** `custody sim`: replays one seed, or hunts through many. */
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Option } from "effect";
import { type HuntFile, optionsOf } from "../hunting/HuntFile.ts";
import { type HuntOptions, isWhole } from "../hunting/HuntOptions.ts";
import { modes } from "../base/Plan.ts";
import {
  calledAs,
  countLines,
  failureLines,
  huntCountLines,
  type HuntReport,
  type RunReport,
  seedsText,
} from "../hunting/Report.ts";
import { scheduleNames } from "../schedules/Schedules.ts";
import { type Coverage, coverageOf, ENOUGH_SEEDS } from "../hunting/Sometimes.ts";
import { parseDuration, parseSeeds, type SeedRange } from "../hunting/Seeds.ts";
import { parseShard, shardOf } from "../hunting/Shard.ts";
import { hunt } from "./Hunt.ts";
import { exploreCommand } from "./exploreCommand.ts";
import { runOf } from "./HuntRun.ts";
import { mergeCommand } from "./mergeCommand.ts";
import { program } from "./Program.ts";
import { Progress } from "./Progress.ts";
import { replayCommand } from "./replayCommand.ts";
import { bugOption, seedOptions } from "./RunSource.ts";
import { keepFailures, type KeptOfHunt, TAPES_FOLDER } from "./Shrinking.ts";
import { showCommand } from "./showCommand.ts";
import { shrinkCommand } from "./shrinkCommand.ts";

import { sourceCommit } from "./SourceCommit.ts";
import { between, endAsFailed, misused, parsed, write } from "./Terminal.ts";

const signals = ["SIGINT", "SIGTERM"] as const;

const MOST_JOBS = 64;
const DEFAULT_JOBS = 2;

const options = {
  seed: between("seed", 0, 2 ** 48, "Run this seed."),
  seeds: Options.text("seeds").pipe(
    Options.withPseudoName("FIRST..LAST"),
    Options.withDescription("Run all seeds of a range, such as 1..10000."),
    Options.optional,
  ),
  shard: Options.text("shard").pipe(
    Options.withPseudoName("I/N"),
    Options.withDescription("Run only part I of the seeds, cut into N parts; `custody sim merge` adds the parts up."),
    Options.optional,
  ),
  schedule: Options.choice("schedule", scheduleNames).pipe(
    Options.withDescription(
      "What goes wrong, and when; without it one of these, drawn from the seed: the default mix, a quarter swarm, an eighth swarm-of-keys, long ones seldom.",
    ),
    Options.optional,
  ),
  peers: seedOptions.peers,
  mode: Options.choice("mode", modes).pipe(
    Options.withDescription(
      "What is demanded: progress after healing, with at most one faulty member (within, the default); safety alone, and nothing is healed (safety); that the rest refuses and names what is missing, with several faulty or lost members (past).",
    ),
    Options.optional,
  ),
  steps: seedOptions.steps,
  crypto: seedOptions.crypto,
  jobs: between("jobs", 1, MOST_JOBS, `Processes of a hunt; without it ${DEFAULT_JOBS}.`),
  time: Options.text("time").pipe(
    Options.withPseudoName("DURATION"),
    Options.withDescription("Begin no more seeds after this long, such as 60s, 5m or 2h."),
    Options.optional,
  ),
  bug: bugOption,
  noShrink: Options.boolean("no-shrink").pipe(
    Options.withDescription("Write the whole tape of a failure instead of the smallest one."),
  ),
  tapes: Options.text("tapes").pipe(
    Options.withPseudoName("DIR"),
    Options.withDescription("Where the tapes of failures go."),
    Options.withDefault(TAPES_FOLDER),
  ),
  sometimes: Options.choice("sometimes", ["report", "require"]).pipe(
    Options.withDescription(
      `Of a hunt: whether it fails for a mark that a schedule of it met too seldom, or a rare situation that the default mix never reached, however few seeds it has; without it only after enough of them (${ENOUGH_SEEDS} for rare situations).`,
    ),
    Options.optional,
  ),
  trace: Options.boolean("trace").pipe(Options.withDescription("Print every event of the one seed.")),
  json: Options.boolean("json").pipe(Options.withDescription("Print the result as one line of JSON.")),
};

/** What is done with failures. */
interface Keeping {
  readonly tapes: string;
  readonly noShrink: boolean;
  readonly json: boolean;
}

const runLines = (run: RunReport): ReadonlyArray<string> => [
  `seed ${run.seed}, schedule ${run.schedule}, ${run.peers} peer${run.peers === 1 ? "" : "s"}, ${run.crypto} crypto`,
  ...countLines(run),
  `${run.events} events, trace hash ${run.hash}`,
  ...(run.violation === undefined ? ["no violation"] : []),
];

const runOne = (seed: number, given: HuntOptions, { trace, ...keeping }: Keeping & { readonly trace: boolean }) =>
  Effect.gen(function* () {
    const run = runOf(seed, given, trace ? (text) => void process.stdout.write(`${text}\n`) : undefined);
    const called = calledAs(program.name, run);
    if (run.violation === undefined) return yield* write(keeping.json ? [JSON.stringify(called)] : runLines(run));
    const kept = yield* keepFailures([run], given, keeping);
    const tapes = kept.map(({ lines: _lines, story: _story, ...rest }) => rest);
    yield* write(
      keeping.json ? [JSON.stringify({ ...called, tapes })] : [...runLines(run), ...kept.flatMap(({ lines }) => lines)],
    );
    yield* endAsFailed;
  });

/** The form that `custody sim merge` reads. */
const huntJson = (
  { first, last }: SeedRange,
  given: HuntOptions,
  report: HuntReport,
  millis: number,
  kept: ReadonlyArray<KeptOfHunt>,
  coverage: Coverage,
): HuntFile => ({
  version: 3,
  commit: sourceCommit(),
  options: optionsOf(given),
  first,
  last,
  seeds: report.seeds,
  codecSeeds: report.codecSeeds,
  realSeeds: report.realSeeds,
  events: report.events,
  millis: Math.round(millis),
  hash: report.hash,
  hashSums: report.hashSums,
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
  tapes: kept.map(({ lines: _lines, story: _story, ...rest }) => rest),
});

const huntLines = (
  report: HuntReport,
  progress: Progress,
  kept: ReadonlyArray<KeptOfHunt>,
  coverage: Coverage,
): ReadonlyArray<string> => [
  ...huntCountLines(report),
  `${seedsText(report)}, ${report.events} events, ${progress.rates(report)}, hash ${report.hash}`,
  ...report.failures
    .filter(({ seed }) => !kept.some((each) => each.seed === seed))
    .flatMap((each) => failureLines(program.name, each)),
  ...kept.flatMap(({ lines }) => lines),
  ...coverage.lines,
  report.failures.length === 0 ? "no violation" : `${report.failures.length} seeds failed`,
];

interface HuntGiven extends Keeping {
  /** Every rare situation must have been reached, however short the hunt. */
  readonly requiresAll: boolean;
  readonly jobs: number;
  readonly millis: number | undefined;
}

/** At a signal a hunt begins no more seeds, and tells what it found; a terminal and npm both pass one on. */
const untilSignal = async <A>(progress: Progress, run: (stop: AbortSignal) => Promise<A>): Promise<A> => {
  const stop = new AbortController();
  const onSignal = (): void => {
    if (stop.signal.aborted) return;
    stop.abort();
    progress.say("ending with the seeds that are under way");
  };
  for (const signal of signals) process.on(signal, onSignal);
  try {
    return await run(stop.signal);
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
  }
};

const runMany = (seeds: SeedRange, given: HuntOptions, { jobs, millis, requiresAll, ...keeping }: HuntGiven) =>
  Effect.gen(function* () {
    const progress = new Progress(seeds.last - seeds.first + 1);
    const report = yield* Effect.promise(() =>
      untilSignal(progress, (stop) => hunt({ seeds, jobs, millis, options: given, stop, progress: progress.update })),
    );
    progress.end();
    const { millis: took } = progress;
    const kept = yield* keepFailures(report.failures, given, keeping);
    const coverage = coverageOf(
      { seeds: report.seeds, marks: report.marks.entries(), tallies: report.tallies.entries() },
      requiresAll,
      { schedule: given.schedule, isWhole: isWhole(given) },
    );
    yield* write(
      keeping.json
        ? [JSON.stringify(huntJson(seeds, given, report, took, kept, coverage))]
        : huntLines(report, progress, kept, coverage),
    );
    if (report.failures.length > 0 || coverage.isRed) yield* endAsFailed;
  }).pipe(Effect.uninterruptible);

const run = Command.make(
  "run",
  options,
  ({
    seed,
    seeds,
    shard,
    schedule,
    peers,
    mode,
    steps,
    crypto,
    jobs,
    time,
    bug,
    trace,
    sometimes: demanded,
    ...keeping
  }) =>
    Effect.gen(function* () {
      const whole = yield* parsed(seeds, parseSeeds);
      const part = yield* parsed(shard, parseShard);
      const millis = yield* parsed(time, parseDuration);
      const given: HuntOptions = {
        schedule: Option.getOrUndefined(schedule),
        peers: Option.getOrUndefined(peers),
        mode: Option.getOrUndefined(mode),
        steps: Option.getOrUndefined(steps),
        crypto: Option.getOrUndefined(crypto),
        bug: Option.getOrUndefined(bug),
      };
      if (Option.isSome(seed) === (whole !== undefined))
        return yield* misused("Give one of --seed 42 and --seeds 1..10000.");
      if (Option.isSome(seed)) {
        if (millis !== undefined || part !== undefined || Option.isSome(jobs))
          return yield* misused("--jobs, --shard and --time belong to --seeds.");
        return yield* runOne(seed.value, given, { ...keeping, trace });
      }
      if (trace) return yield* misused("--trace belongs to --seed.");
      if (whole === undefined) return;
      const range = part === undefined ? whole : shardOf(whole, part);
      if (range === undefined) return yield* misused("--shard has no seeds: there are fewer seeds than parts.");
      yield* runMany(range, given, {
        ...keeping,
        jobs: Option.getOrElse(jobs, () => DEFAULT_JOBS),
        millis,
        requiresAll: Option.contains(demanded, "require"),
      });
    }),
).pipe(Command.withDescription("Run the peers in a simulated world, reproducibly, with every invariant checked."));

/** The command `sim`. Ends with 0 when nothing was violated, 1 when something was, 2 on wrong usage. */
export const sim = Command.make("sim").pipe(
  Command.withDescription("The seeded simulator."),
  Command.withSubcommands([run, replayCommand, shrinkCommand, mergeCommand, showCommand, exploreCommand]),
);
