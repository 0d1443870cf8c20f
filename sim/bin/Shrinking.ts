/** Shrinks a failing run with a bound on events, writes its tape, and makes the text that tells it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Effect } from "effect";
import type { HuntOptions } from "../hunting/HuntOptions.ts";
import type { RunReport } from "../hunting/Report.ts";
import { failureText, type Story, storyOf } from "../show/Story.ts";
import { PROCESS_LOST } from "../run/ThrownOut.ts";
import { shrinking, type Shrunk } from "../shrink/Shrink.ts";
import { tapeOptions } from "../tape/Tape.ts";
import { record, type Recording, replayExactly, tapeOf } from "../tape/TapeRun.ts";
import { backendOf } from "./NativeBackend.ts";
import { program } from "./Program.ts";
import { writeTape } from "./RunSource.ts";
import { sourceCommit } from "./SourceCommit.ts";
import { misused } from "./Terminal.ts";

/** Events and requests of all smaller runs of a failure: less than a minute on a usual machine. */
export const SHRINK_EVENTS = 500_000;
/** How long it shrinks before signals are looked at. */
const TURN_MILLIS = 100;
/** Where a hunt leaves its tapes unless it is told otherwise. */
export const TAPES_FOLDER = "custody-tapes";

const signals = ["SIGINT", "SIGTERM"] as const;

/**
 * Shrinks with a budget of events. A signal ends the search, and what was found so far is the result: whoever calls
 * this keeps it, uninterruptibly.
 */
export const shrinkWithin = (failing: Recording, mostEvents: number): Effect.Effect<Shrunk> =>
  Effect.promise(async () => {
    const search = shrinking(failing, { mostEvents, backend: backendOf(failing.options.seed) });
    const stop = new AbortController();
    const onSignal = (): void => stop.abort();
    for (const signal of signals) process.on(signal, onSignal);
    try {
      let seenAt = performance.now();
      for (;;) {
        const { done, value } = search.next();
        if (done === true || stop.signal.aborted) return value;
        if (performance.now() - seenAt < TURN_MILLIS) continue;
        await setImmediate();
        seenAt = performance.now();
      }
    } finally {
      for (const signal of signals) process.off(signal, onSignal);
    }
  });

/** The command that runs a seed again. */
const seedCommand = ({ options }: Recording): string =>
  [
    `${program.name} sim replay ${options.seed} --schedule ${options.schedule} --peers ${options.peers}`,
    `--steps ${options.steps} --crypto ${options.crypto}`,
    ...(options.mode === "within" ? [] : [`--mode ${options.mode}`]),
    ...(options.bug === undefined ? [] : [`--bug ${options.bug}`]),
  ].join(" ");

/** Where a failure's tape goes, inside a folder. */
const tapeFile = (folder: string, { options, result }: Recording): string =>
  join(folder, `${result.violation?.id ?? "run"}-${options.schedule}-${options.seed}.tape`);

const makeFolder = (folder: string) =>
  Effect.try(() => void mkdirSync(folder, { recursive: true })).pipe(
    Effect.catchAll(({ error }) =>
      misused(`--tapes ${folder} cannot be made: ${error instanceof Error ? error.message : String(error)}`),
    ),
  );

export interface Kept {
  readonly file: string;
  readonly deviations: number;
  readonly runs: number;
  readonly isMinimal: boolean;
  /** The failure in words, and the story in them. */
  readonly lines: ReadonlyArray<string>;
  readonly story: Story;
}

/** Writes the tape of a failing run, shrunk unless it was not to be, and tells the failure. */
export const keepFailure = (failing: Recording, shrunk: Shrunk | undefined, file: string) =>
  Effect.gen(function* () {
    const commit = sourceCommit();
    const { recording, runs, events, isMinimal } = shrunk ?? {
      recording: failing,
      runs: 0,
      events: 0,
      isMinimal: false,
    };
    const tape = tapeOf(recording, { commit, sparse: shrunk !== undefined });
    yield* writeTape(file, tape);
    const made = isMinimal ? `nothing more can be taken from it` : "more might be taken from it";
    const origin = shrunk === undefined ? "not shrunk" : `shrunk in ${runs} runs of ${events} events; ${made}`;
    const story = storyOf((onlookers) => replayExactly(tape, { ...onlookers, backend: backendOf(tape.options.seed) }));
    const lines = failureText({
      recording,
      commit,
      replay: `${program.name} sim replay ${program.file(file)}`,
      origin: `from: ${seedCommand(failing)} (${origin})`,
      story,
    });
    return { file, deviations: recording.deviations.length, runs, isMinimal, lines, story } satisfies Kept;
  });

/** Failures of a hunt that are shrunk and told whole: one for each invariant, and not more than this many. */
const MOST_TOLD = 3;

export interface KeptOfHunt extends Kept {
  readonly seed: number;
}

/** The shortest failure of each invariant, of those that are as short the first: it is the soonest made small. */
const shortestOfEach = (failures: ReadonlyArray<RunReport>): ReadonlyArray<RunReport> => {
  const shortest = new Map<string | undefined, RunReport>();
  for (const failure of failures) {
    const { violation } = failure;
    const known = shortest.get(violation?.id);
    if (known === undefined || failure.events < known.events) shortest.set(violation?.id, failure);
  }
  return [...shortest.values()];
};

/** Keeps the shortest failure of each invariant that a hunt found broken. */
export const keepFailures = (
  failures: ReadonlyArray<RunReport>,
  { bug, ...given }: HuntOptions,
  { tapes, noShrink }: { readonly tapes: string; readonly noShrink: boolean },
) =>
  Effect.gen(function* () {
    // Recording the run of a process that ended would end this one.
    const recordable = failures.filter(({ violation }) => violation?.id !== PROCESS_LOST);
    const told = shortestOfEach(recordable).slice(0, MOST_TOLD);
    if (told.length > 0) yield* makeFolder(tapes);
    return yield* Effect.forEach(told, ({ seed }) =>
      Effect.gen(function* () {
        const failing = record(tapeOptions({ seed, ...given }, bug), { backend: backendOf(seed) });
        const shrunk = noShrink ? undefined : yield* shrinkWithin(failing, SHRINK_EVENTS);
        const kept = yield* keepFailure(failing, shrunk, tapeFile(tapes, failing));
        return { seed, ...kept } satisfies KeptOfHunt;
      }),
    );
  }).pipe(Effect.uninterruptible);
