/** `custody sim replay`: one run again, from its seed or its tape, to its end or to an event. */
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Option } from "effect";
import { MOST_PEERS } from "../checkers/Ghost.ts";
import { countLines } from "../hunting/Report.ts";
import { WishDecider } from "../shrink/WishDecider.ts";
import { record, tapeOf, type Onlookers, type Recording } from "../tape/TapeRun.ts";
import { type Story, storyOf } from "../show/Story.ts";
import { besideQuiet, peerLines } from "../show/StateText.ts";
import { plainOf, Reached, Until, type WorldAt } from "../show/Until.ts";
import {
  optionsOf,
  readSource,
  rerun,
  runSource,
  type RunSource,
  seedOptions,
  sourceArgument,
  writeTape,
} from "./RunSource.ts";
import { backendOf } from "./NativeBackend.ts";
import { sourceCommit } from "./SourceCommit.ts";
import { between, endAsFailed, misused, write } from "./Terminal.ts";

const options = {
  ...seedOptions,
  until: between("until", 0, Number.MAX_SAFE_INTEGER, "Stop after this event; --trace and the story number them."),
  peer: between("peer", 1, MOST_PEERS, "Show this peer only."),
  show: Options.choice("show", ["state", "story"]).pipe(
    Options.withDescription(
      "Print the peers where the run stopped, what differs from the quiet run at that time first (state), or what led to the end of a whole run: traitor, deviations, votes, crashes (story). With --json, whole states.",
    ),
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

/** The same world at the same time, where every draw is quiet; where that run ends earlier, at its end. */
const quietAt = (source: RunSource, { now }: WorldAt): WorldAt | undefined => {
  const stop = new Until(undefined, now);
  const options = optionsOf(source);
  try {
    record(options, { observer: stop.observer, backend: backendOf(options.seed) }, new WishDecider([]));
  } catch (fault) {
    if (!(fault instanceof Reached)) throw fault;
  }
  return stop.reached;
};

/** The peers asked for, each beside itself in the quiet run. */
const statesOf = (source: RunSource, { reached }: Seen, peer: number | undefined) => {
  const quiet = reached && quietAt(source, reached);
  return peersOf(reached, peer).flatMap((each) => {
    const other = quiet?.peers.find((one) => one.peer === each.peer)?.state;
    return reached === undefined ? [] : [{ ...each, text: besideQuiet(reached.crypto, each.state, other) }];
  });
};
type States = ReturnType<typeof statesOf>;

const stateLines = (states: States): ReadonlyArray<string> =>
  states.flatMap(({ peer, process, state, text }) => [
    `peer ${peer}, process ${process}${state === undefined ? ": no process runs" : ""}`,
    ...(state === undefined ? [] : peerLines(text)),
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

const jsonOf = ({ recording, reached }: Seen, states: States | undefined, story: Story | undefined): string => {
  const { violation } = recording?.result ?? {};
  return JSON.stringify({
    stopped: recording === undefined,
    events: reached?.events ?? 0,
    now: reached?.now ?? 0,
    hash: recording?.result.hash ?? null,
    deviations: recording?.deviations.length ?? null,
    violation: violation === undefined ? null : { id: violation.id, facts: violation.facts },
    ...(states === undefined
      ? {}
      : {
          peers: states.map(({ peer, process, state, text: { differs } }) => ({
            peer,
            process,
            differs,
            state: plainOf(state) ?? null,
          })),
        }),
    ...(story === undefined ? {} : { story: { traitor: story.traitor ?? null, lines: story.lines } }),
  });
};

export const replayCommand = Command.make(
  "replay",
  { source: sourceArgument, ...options },
  ({ source: text, until, peer, show, trace, out, json, ...given }) =>
    Effect.gen(function* () {
      const source = yield* readSource(text, given);
      const shown = Option.contains(show, "state");
      const isTold = Option.contains(show, "story");
      const only = Option.getOrUndefined(peer);
      if (only !== undefined && !shown) return yield* misused("--peer belongs to --show state.");
      if (Option.isSome(out) && Option.isSome(until))
        return yield* misused("--tape writes a whole run; leave --until out.");
      if (isTold && Option.isSome(until)) return yield* misused("--show story tells a whole run; leave --until out.");
      const line = trace ? (each: string) => void process.stdout.write(`${each}\n`) : undefined;
      const seen = yield* see(source, Option.getOrUndefined(until), line);
      if (Option.isSome(out) && seen.recording !== undefined)
        yield* writeTape(out.value, tapeOf(seen.recording, { commit: sourceCommit(), sparse: false }));
      const states = shown ? statesOf(source, seen, only) : undefined;
      const story = isTold ? storyOf((onlookers) => rerun(source, onlookers)) : undefined;
      yield* write(
        json
          ? [jsonOf(seen, states, story)]
          : [
              ...endLines(seen),
              ...(story === undefined ? [] : [story.traitor ?? "nobody lies", ...story.lines]),
              ...stateLines(states ?? []),
            ],
      );
      if (seen.recording?.result.violation !== undefined) yield* endAsFailed;
    }),
).pipe(Command.withDescription("Run one seed or one tape again, exactly, and look at the peers on the way."));
