/** `custody sim show`: one run as a picture, in one file. */
import { writeFileSync } from "node:fs";
import * as Args from "@effect/cli/Args";
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Option } from "effect";
import { plantedBugs } from "../PlantedBugs.ts";
import { failureLines, reportOf } from "../Report.ts";
import { type RunOptions, scheduleNames } from "../Schedules.ts";
import { runSeed } from "../Simulation.ts";
import { pageOf } from "../show/Page.ts";
import { pictureOf } from "../show/Picture.ts";
import { MOST_MOMENTS, Recorder } from "../show/Recorder.ts";
import { readPageSource } from "./PageFiles.ts";
import { between, endAsFailed, misused, write } from "./Terminal.ts";

const MOST_PEERS = 9;
/** Whoever wants to see more of a run than this wants to see another part of it. */
const MOST_STEPS = 200_000;

const options = {
  out: Options.text("out").pipe(
    Options.withPseudoName("FILE"),
    Options.withDescription("The HTML file to write; one that is there is replaced."),
  ),
  schedule: Options.choice("schedule", scheduleNames).pipe(
    Options.withDescription("What goes wrong, and when; without it swarm."),
    Options.optional,
  ),
  peers: between("peers", 1, MOST_PEERS, "How many peers; without it drawn from the seed."),
  steps: between("steps", 1, MOST_STEPS, "Events and requests before everything is healed and must come to rest."),
  crypto: Options.choice("crypto", ["fast", "real"]).pipe(
    Options.withDescription(
      "Stand-ins, or real signatures, codec and sealed rows; without it every 16th seed is real.",
    ),
    Options.optional,
  ),
  peer: between("peer", 1, MOST_PEERS, "Show the state of this peer from the start."),
  bug: Options.choice(
    "bug",
    plantedBugs.map(({ name }) => name),
  ).pipe(Options.withDescription("Plant this bug, to see how it is found."), Options.optional),
};

const seed = Args.integer({ name: "SEED" }).pipe(Args.withDescription("The seed to run, from 0."));

const writePage = (file: string, text: string) =>
  Effect.try(() => writeFileSync(file, text)).pipe(
    Effect.catchAll(({ error }) =>
      misused(`--out ${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`),
    ),
  );

const megabytes = (text: string): string => `${(Buffer.byteLength(text) / 1_000_000).toFixed(1)} MB`;

interface Given {
  readonly run: RunOptions;
  readonly out: string;
  readonly peer: number | undefined;
  readonly bug: string | undefined;
}

const showRun = ({ run, out, peer, bug }: Given) =>
  Effect.gen(function* () {
    const recorder = new Recorder();
    const planted = plantedBugs.find(({ name }) => name === bug);
    const report = reportOf(runSeed(run, { observer: recorder, tampering: planted?.tampering() }), {
      steps: run.steps,
      real: run.real,
    });
    if (peer !== undefined && peer > report.peers)
      return yield* misused(`--peer ${peer}: this run has ${report.peers} peers.`);
    const notes = planted === undefined ? [] : [`A bug is planted (${planted.name}): ${planted.changes}.`];
    const command = [
      `custody sim show ${report.seed} --schedule ${report.schedule} --peers ${report.peers}`,
      run.steps === undefined ? "" : ` --steps ${run.steps}`,
      run.real === undefined ? "" : ` --crypto ${run.real ? "real" : "fast"}`,
      bug === undefined ? "" : ` --bug ${bug}`,
      " --out run.html",
    ].join("");
    const page = pageOf(pictureOf(recorder, { report, command, notes, peer }), readPageSource());
    yield* writePage(out, page);
    const left =
      recorder.dropped === 0
        ? ""
        : `; the first ${recorder.dropped} are left out, at most ${2 * MOST_MOMENTS} are shown`;
    yield* write([`${out}: ${recorder.moments.length} moments${left}; ${megabytes(page)}`, ...failureLines(report)]);
    if (report.violation !== undefined) yield* endAsFailed;
  });

/** The command `show`. Ends with 0 when nothing was violated, 1 when something was, 2 on wrong usage. */
export const show = Command.make(
  "show",
  { seed, ...options },
  ({ seed, out, schedule, peers, steps, crypto, peer, bug }) =>
    seed < 0
      ? misused("SEED must be a whole number from 0.")
      : showRun({
          run: {
            seed,
            schedule: Option.getOrUndefined(schedule),
            peers: Option.getOrUndefined(peers),
            steps: Option.getOrUndefined(steps),
            real: Option.getOrUndefined(Option.map(crypto, (kind) => kind === "real")),
          },
          out,
          peer: Option.getOrUndefined(peer),
          bug: Option.getOrUndefined(bug),
        }),
).pipe(Command.withDescription("Draw one run as a picture to look into: an HTML file that needs nothing else."));
