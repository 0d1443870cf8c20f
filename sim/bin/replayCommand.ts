/** `custody sim replay`: one run again, from its seed or its tape, to its end or to an event. */
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Option } from "effect";
import { stringify } from "yaml";
import { MOST_PEERS } from "../checkers/Ghost.ts";
import { countLines } from "../hunting/Report.ts";
import { tapeOf, type Onlookers, type Recording } from "../tape/TapeRun.ts";
import { plainOf, Reached, Until, type WorldAt } from "../show/Until.ts";
import { readSource, runSource, type RunSource, seedOptions, sourceArgument, writeTape } from "./RunSource.ts";
import { sourceCommit } from "./SourceCommit.ts";
import { between, endAsFailed, misused, write } from "./Terminal.ts";

const options = {
  ...seedOptions,
  until: between("until", 0, Number.MAX_SAFE_INTEGER, "Stop after this event; --trace and the story number them."),
  peer: between("peer", 1, MOST_PEERS, "Show this peer only."),
  show: Options.choice("show", ["state"]).pipe(
    Options.withDescription("Print the state of the peers where the run stopped."),
    Options.optional,
  ),
  trace: Options.boolean("trace").pipe(Options.withDescription("Print every event.")),
  out: Options.text("tape").pipe(
    Options.withPseudoName("FILE"),
    Options.withDescription("Write the full tape of the run to a file."),
    Options.optional,
  ),
  json: Options.boolean("json").pipe(Options.withDescription("Print the result as one line of JSON.")),
};

/** A run that may have been stopped before its end. */
interface Seen {
  readonly recording: Recording | undefined;
  readonly reached: WorldAt | undefined;
}

const see = (source: RunSource, until: number | undefined, line: Onlookers["line"]) => {
  const stop = new Until(until);
  return runSource(source, { line, observer: stop.observer }).pipe(
    Effect.map((recording): Seen => ({ recording, reached: stop.reached })),
    Effect.catchSomeDefect((fault) =>
      fault instanceof Reached
        ? Option.some(Effect.sync((): Seen => ({ recording: undefined, reached: stop.reached })))
        : Option.none(),
    ),
  );
};

const peersOf = (reached: WorldAt | undefined, peer: number | undefined) =>
  (reached?.peers ?? []).filter((each) => peer === undefined || each.peer === peer);

const stateLines = ({ reached }: Seen, peer: number | undefined): ReadonlyArray<string> =>
  peersOf(reached, peer).flatMap((each) => [
    `peer ${each.peer}, process ${each.process}${each.state === undefined ? ": no process runs" : ""}`,
    ...(each.state === undefined
      ? []
      : stringify(plainOf(each.state), { aliasDuplicateObjects: false, lineWidth: 0 })
          .trimEnd()
          .split("\n")
          .map((line) => `  ${line}`)),
  ]);

const endLines = ({ recording, reached }: Seen): ReadonlyArray<string> => {
  const at = `after event ${reached?.events ?? 0}, at ${reached?.now ?? 0} µs`;
  if (recording === undefined) return [`stopped ${at}`];
  const { result, deviations, options } = recording;
  const bug = options.bug === undefined ? "" : `, planted bug ${options.bug}`;
  return [
    `seed ${options.seed}, schedule ${options.schedule}, ${options.peers} peers, ${options.crypto} crypto${bug}`,
    ...countLines(result),
    `${result.events} events, ${deviations.length} deviations from the quiet run, trace hash ${result.hash}`,
    ...(result.violation === undefined
      ? ["no violation"]
      : [
          `breaks ${result.violation.id} ${at}`,
          `  fact: ${result.violation.facts[0]}`,
          `  fact: ${result.violation.facts[1]}`,
        ]),
  ];
};

const jsonOf = ({ recording, reached }: Seen, shown: boolean, peer: number | undefined): string => {
  const { violation } = recording?.result ?? {};
  return JSON.stringify({
    stopped: recording === undefined,
    events: reached?.events ?? 0,
    now: reached?.now ?? 0,
    hash: recording?.result.hash ?? null,
    deviations: recording?.deviations.length ?? null,
    violation: violation === undefined ? null : { id: violation.id, facts: violation.facts },
    ...(shown
      ? { peers: peersOf(reached, peer).map((each) => ({ ...each, state: plainOf(each.state) ?? null })) }
      : {}),
  });
};

export const replayCommand = Command.make(
  "replay",
  { source: sourceArgument, ...options },
  ({ source: text, until, peer, show, trace, out, json, ...given }) =>
    Effect.gen(function* () {
      const source = yield* readSource(text, given);
      const shown = Option.isSome(show);
      const only = Option.getOrUndefined(peer);
      if (only !== undefined && !shown) return yield* misused("--peer belongs to --show state.");
      if (Option.isSome(out) && Option.isSome(until))
        return yield* misused("--tape writes a whole run; leave --until out.");
      const line = trace ? (each: string) => void process.stdout.write(`${each}\n`) : undefined;
      const seen = yield* see(source, Option.getOrUndefined(until), line);
      if (Option.isSome(out) && seen.recording !== undefined)
        yield* writeTape(out.value, tapeOf(seen.recording, { commit: sourceCommit(), sparse: false }));
      yield* write(json ? [jsonOf(seen, shown, only)] : [...endLines(seen), ...(shown ? stateLines(seen, only) : [])]);
      if (seen.recording?.result.violation !== undefined) yield* endAsFailed;
    }),
).pipe(Command.withDescription("Run one seed or one tape again, exactly, and look at the peers on the way."));
