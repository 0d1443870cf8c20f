/** Where a run comes from: a seed with its options, or a tape. */
import { closeSync, fstatSync, openSync, readFileSync, writeFileSync } from "node:fs";
import * as Args from "@effect/cli/Args";
import * as Options from "@effect/cli/Options";
import type * as ValidationError from "@effect/cli/ValidationError";
import { Effect, Either, Option } from "effect";
import { MOST_PEERS } from "../checkers/Ghost.ts";
import { modes } from "../base/Plan.ts";
import { plantedBugs } from "../bugs/PlantedBugs.ts";
import { scheduleNames } from "../schedules/Schedules.ts";
import { parseSeeds } from "../hunting/Seeds.ts";
import { tiers } from "../base/Tier.ts";
import { type Tape, type TapeOptions, tapeOptions } from "../tape/Tape.ts";
import { formatTape, MOST_TAPE_BYTES, parseTape } from "../tape/TapeFormat.ts";
import { TapeMismatch } from "../tape/TapePlayer.ts";
import { type Onlookers, type Recording, record, replayExactly } from "../tape/TapeRun.ts";
import { backendOf } from "./NativeBackend.ts";
import { program } from "./Program.ts";
import { sourceCommit } from "./SourceCommit.ts";
import { between, misused } from "./Terminal.ts";

const MOST_STEPS = 1_000_000_000;

/** A run that is to be seen again. */
export type RunSource =
  | { readonly _tag: "Seed"; readonly options: TapeOptions }
  | { readonly _tag: "Tape"; readonly file: string; readonly tape: Tape };

export const sourceArgument = Args.text({ name: "SEED|TAPE" }).pipe(
  Args.withDescription("The seed to run, or a file with a tape."),
);

export const bugOption = Options.choice(
  "bug",
  plantedBugs.map(({ name }) => name),
).pipe(Options.withDescription("Plant this bug, to see how it is found."), Options.optional);

/** Options that a seed may have; a tape contains its own. */
export const seedOptions = {
  schedule: Options.choice("schedule", scheduleNames).pipe(
    Options.withDescription(
      "What goes wrong, and when; without it drawn from the seed. Of a seed only, like the next ones.",
    ),
    Options.optional,
  ),
  peers: between("peers", 1, MOST_PEERS, "How many peers; without it drawn from the seed."),
  mode: Options.choice("mode", modes).pipe(
    Options.withDescription("What is demanded of the run; without it within."),
    Options.optional,
  ),
  steps: between("steps", 1, MOST_STEPS, "Events and requests before everything is healed and must come to rest."),
  crypto: Options.choice("crypto", tiers).pipe(
    Options.withDescription(
      "Stand-ins for all crypto (fast), the product's codec, hashes and sealed rows with stand-ins for signatures (codec), or everything as on a real peer (real); without it one seed in 16 is codec, and one in 512 real.",
    ),
    Options.optional,
  ),
  bug: bugOption,
};

type Given<T> = { readonly [Name in keyof T]: T[Name] extends Options.Options<infer A> ? A : never };
export type SeedGiven = Given<typeof seedOptions>;

const reasonOf = (fault: unknown): string => (fault instanceof Error ? fault.message : String(fault));

/** Reads no more than a tape may have, whatever the file is. */
const readBounded = (file: string): Uint8Array => {
  const handle = openSync(file, "r");
  try {
    const status = fstatSync(handle);
    if (!status.isFile()) throw new Error("it is no plain file");
    if (status.size > MOST_TAPE_BYTES) throw new Error(`it has more than ${MOST_TAPE_BYTES} bytes`);
    return readFileSync(handle);
  } finally {
    closeSync(handle);
  }
};

const readTape = (file: string): Effect.Effect<Tape, ValidationError.ValidationError> =>
  Effect.try(() => readBounded(file)).pipe(
    Effect.catchAll(({ error }) =>
      misused(`${file} is no seed (a whole number from 0 to 2^48) and cannot be read as a tape: ${reasonOf(error)}`),
    ),
    Effect.flatMap((bytes) =>
      Either.match(parseTape(bytes), {
        onLeft: (reason) =>
          misused(
            `${file} is no tape of this version: ${reason}. Write it again with ${program.name} sim shrink or replay.`,
          ),
        onRight: Effect.succeed,
      }),
    ),
  );

/** A seed, or the tape in a file; fails as wrong usage where it is neither. */
export const readSource = (
  text: string,
  { schedule, peers, mode, steps, crypto, bug }: SeedGiven,
): Effect.Effect<RunSource, ValidationError.ValidationError> => {
  if (/^\d+$/.test(text))
    return Either.match(parseSeeds(text), {
      onLeft: () => misused(`${text} is too large: seeds are whole numbers from 0 to 2^48.`),
      onRight: ({ first: seed }) =>
        Effect.succeed({
          _tag: "Seed",
          options: tapeOptions(
            {
              seed,
              schedule: Option.getOrUndefined(schedule),
              peers: Option.getOrUndefined(peers),
              mode: Option.getOrUndefined(mode),
              steps: Option.getOrUndefined(steps),
              crypto: Option.getOrUndefined(crypto),
            },
            Option.getOrUndefined(bug),
          ),
        }),
    });
  if ([schedule, peers, mode, steps, crypto, bug].some(({ _tag }) => _tag === "Some"))
    return misused("--schedule, --peers, --mode, --steps, --crypto and --bug belong to a seed; a tape has its own.");
  return Effect.map(readTape(text), (tape) => ({ _tag: "Tape", file: text, tape }));
};

/** The options of a run, with nothing left to the seed. */
export const optionsOf = (source: RunSource): TapeOptions =>
  source._tag === "Seed" ? source.options : source.tape.options;

/** Runs it with a recorder on. @throws {TapeMismatch} where a tape does not fit this code */
export const rerun = (source: RunSource, onlookers: Onlookers): Recording => {
  const seen = { ...onlookers, backend: backendOf(optionsOf(source).seed) };
  return source._tag === "Seed" ? record(source.options, seen) : replayExactly(source.tape, seen);
};

/** Runs it with a recorder on. A tape that does not fit this code is wrong usage: there is a commit that it fits. */
export const runSource = (
  source: RunSource,
  onlookers: Onlookers = {},
): Effect.Effect<Recording, ValidationError.ValidationError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(rerun(source, onlookers));
    } catch (fault) {
      if (!(fault instanceof TapeMismatch && source._tag === "Tape")) throw fault;
      return misused(
        `${source.file} does not fit this code. ${fault.message}. It was recorded with commit ${source.tape.commit}; this is ${sourceCommit()}.`,
      );
    }
  });

/** Writes a tape to a file; one that is there is replaced. */
export const writeTape = (file: string, tape: Tape): Effect.Effect<void, ValidationError.ValidationError> =>
  Effect.try(() => writeFileSync(file, formatTape(tape))).pipe(
    Effect.catchAll(({ error }) => misused(`${file} cannot be written: ${reasonOf(error)}`)),
  );
