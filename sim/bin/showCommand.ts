/** `custody sim show`: one run, of a seed or a tape, as a picture in one file. */
import { writeFileSync } from "node:fs";
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Option } from "effect";
import { MOST_PEERS } from "../checkers/Ghost.ts";
import { plantedBugNamed } from "../bugs/PlantedBugs.ts";
import { pageOf } from "../show/Page.ts";
import { type PictureOptions, pictureOf } from "../show/Picture.ts";
import { Recorder } from "../show/Recorder.ts";
import { traitorText } from "../show/Story.ts";
import type { Recording } from "../tape/TapeRun.ts";
import { Reached } from "../show/Until.ts";
import { readPageSource } from "./PageFiles.ts";
import { program } from "./Program.ts";
import { optionsOf, readSource, runSource, type RunSource, seedOptions, sourceArgument } from "./RunSource.ts";
import { between, endAsFailed, misused, write } from "./Terminal.ts";

/** A person who wants to see more of a run than this wants to see another part of it. */
const MOST_STEPS = 200_000;

const options = {
  ...seedOptions,
  out: Options.text("out").pipe(
    Options.withPseudoName("FILE"),
    Options.withDescription("The HTML file to write; one that is there is replaced."),
  ),
  until: between("until", 0, Number.MAX_SAFE_INTEGER, "Stop after this event; the picture numbers them."),
  peer: between("peer", 1, MOST_PEERS, "Show the state of this peer from the start."),
  json: Options.boolean("json").pipe(Options.withDescription("Print the result as one line of JSON.")),
};

const writePage = (file: string, text: string) =>
  Effect.try(() => writeFileSync(file, text)).pipe(
    Effect.catchAll(({ error }) =>
      misused(`--out ${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`),
    ),
  );

const megabytes = (text: string): string => `${(Buffer.byteLength(text) / 1_000_000).toFixed(1)} MB`;

/** The command that draws the same picture. */
const commandOf = (source: RunSource, until: number | undefined): string => {
  const { seed, schedule, peers, mode, steps, crypto, bug } = optionsOf(source);
  const run =
    source._tag === "Tape"
      ? program.file(source.file)
      : `${seed} --schedule ${schedule} --peers ${peers} --mode ${mode} --steps ${steps} --crypto ${crypto}${bug === undefined ? "" : ` --bug ${bug}`}`;
  return `${program.name} sim show ${run}${until === undefined ? "" : ` --until ${until}`} --out run.html`;
};

/** Runs to the end, or to the event; undefined where it was stopped. */
const see = (source: RunSource, recorder: Recorder) =>
  runSource(source, { observer: recorder }).pipe(
    Effect.map((recording): Recording | undefined => recording),
    Effect.catchSomeDefect((fault) =>
      fault instanceof Reached ? Option.some(Effect.succeed(undefined)) : Option.none(),
    ),
  );

const runFacts = (
  source: RunSource,
  recorder: Recorder,
  recording: Recording | undefined,
): PictureOptions["report"] => {
  const { seed, schedule, peers, crypto } = optionsOf(source);
  const { hash = "none, for it was stopped", events = recorder.world.events, violation } = recording?.result ?? {};
  return { seed, schedule, peers, crypto, hash, events, violation };
};

const notesOf = (
  source: RunSource,
  recording: Recording | undefined,
  until: number | undefined,
): ReadonlyArray<string> => {
  const bug = plantedBugNamed(optionsOf(source).bug ?? "");
  return [
    bug === undefined ? "" : `A bug is planted (${bug.name}): ${bug.changes}.`,
    recording === undefined ? `The run was stopped after event ${until}.` : "",
    source._tag === "Tape" && recording !== undefined
      ? `Played from ${source.file}: ${recording.deviations.length} deviations from the quiet run.`
      : "",
  ].filter((note) => note !== "");
};

interface Wanted {
  readonly out: string;
  readonly until: number | undefined;
  readonly peer: number | undefined;
  readonly json: boolean;
}

const showRun = (source: RunSource, { out, until, peer, json }: Wanted) =>
  Effect.gen(function* () {
    const { peers, steps } = optionsOf(source);
    if (steps > MOST_STEPS)
      return yield* misused(`A picture is drawn of at most ${MOST_STEPS} steps; this run has ${steps}.`);
    if (peer !== undefined && peer > peers) return yield* misused(`--peer ${peer}: this run has ${peers} peers.`);
    const recorder = new Recorder(until);
    const recording = yield* see(source, recorder);
    const report = runFacts(source, recorder, recording);
    const notes = notesOf(source, recording, until);
    const picture = pictureOf(recorder, { report, command: commandOf(source, until), notes, peer });
    const page = pageOf(picture, readPageSource());
    yield* writePage(out, page);
    const left = recorder.dropped === 0 ? "" : `, the ${recorder.dropped} before them are left out`;
    const { violation } = report;
    const told = {
      file: out,
      moments: recorder.moments.length,
      leftOut: recorder.dropped,
      stopped: recording === undefined,
      traitor: traitorText(recorder.world) ?? null,
      violation: violation === undefined ? null : { id: violation.id, facts: violation.facts },
    };
    const lines = [
      `${out}: ${recorder.moments.length} moments${left}; ${megabytes(page)}`,
      ...(violation === undefined
        ? ["no violation"]
        : [`breaks ${violation.id}`, ...violation.facts.map((fact) => `  fact: ${fact}`)]),
    ];
    yield* write(json ? [JSON.stringify(told)] : lines);
    if (violation !== undefined) yield* endAsFailed;
  });

/** The command `show`. Ends with 0 when nothing was violated, 1 when something was, 2 on wrong usage. */
export const showCommand = Command.make(
  "show",
  { source: sourceArgument, ...options },
  ({ source: text, out, until, peer, json, ...given }) =>
    Effect.flatMap(readSource(text, given), (source) =>
      showRun(source, { out, until: Option.getOrUndefined(until), peer: Option.getOrUndefined(peer), json }),
    ),
).pipe(Command.withDescription("Draw one run as a picture to look into: an HTML file that needs nothing else."));
