/** `custody sim explore`: every interleaving of a small world, each configuration once. */
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Option } from "effect";
import { worlds } from "../explore/Configuration.ts";
import { type Exploration, type ExploreOptions, explore } from "../explore/Explorer.ts";
import { parseDuration } from "../hunting/Seeds.ts";
import { endAsFailed, parsed, write } from "./Terminal.ts";

const count = (
  name: string,
  least: number,
  most: number,
  usual: number,
  description: string,
): Options.Options<number> =>
  Options.integer(name).pipe(
    Options.withPseudoName("N"),
    Options.filterMap(
      (value) => (value >= least && value <= most ? Option.some(value) : Option.none()),
      `--${name} must be a whole number from ${least} to ${most}`,
    ),
    Options.withDescription(description),
    Options.withDefault(usual),
  );

const MOST_STATES = 50_000_000;
const MOST_FAULTS = 8;

const options = {
  world: Options.choice("world", worlds).pipe(
    Options.withDescription(
      "What callers ask for: registrations of one key under different ids, or signatures of different messages.",
    ),
    Options.withDefault("registrations" as const),
  ),
  peers: count("peers", 1, 5, 3, "Members of the cluster."),
  requests: count("requests", 1, 4, 2, "Callers, through different peers."),
  crashes: count("crashes", 0, MOST_FAULTS, 1, "Processes that end at any moment, also between two actions of a step."),
  losses: count("losses", 0, MOST_FAULTS, 1, "Messages that are lost."),
  duplicates: count("duplicates", 0, MOST_FAULTS, 1, "Messages that arrive twice."),
  timers: count("timers", 0, MOST_FAULTS, 0, "Timers that fire while something else could still happen."),
  pauses: count("pauses", 0, MOST_FAULTS, 0, "Times that more than a proposal has goes by at once."),
  lies: count("lies", 0, MOST_FAULTS, 0, "World signing: what the last peer says wrongly as a coordinator."),
  states: count("states", 1, MOST_STATES, MOST_STATES, "End after so many distinct states."),
  time: Options.text("time").pipe(
    Options.withPseudoName("DURATION"),
    Options.withDescription("End after this long, such as 60s, 5m or 2h."),
    Options.optional,
  ),
  json: Options.boolean("json").pipe(Options.withDescription("Print the result as one line of JSON.")),
};

/** Moves of a story that are printed; the search is depth first, so it may be longer than necessary. */
const MOST_MOVES = 60;

const scopeLine = ({ world, peers, requests, budget }: ExploreOptions): string =>
  `${peers} members, ${requests} ${world === "signing" ? "signatures" : "conflicting requests"}, at most ${Object.entries(
    budget,
  )
    .map(([name, left]) => `${left} ${name}`)
    .join(", ")}`;

const linesOf = (options: ExploreOptions, found: Exploration, millis: number): ReadonlyArray<string> => {
  const { states, moves, ends, deepest, complete, failure } = found;
  const seconds = (millis / 1_000).toFixed(1);
  const lines = [
    scopeLine(options),
    `${states} distinct states, ${moves} moves, at most ${deepest} one after the other, ${ends} followed to rest, ${seconds} s`,
  ];
  if (failure === undefined) {
    lines.push(complete ? "complete: no violation" : "not complete, the bound was reached: no violation so far");
    return lines;
  }
  const { violation, story } = failure;
  const [first, second] = violation.facts;
  const cut = story.length - MOST_MOVES;
  const told = cut > 0 ? [`(${cut} earlier moves)`, ...story.slice(cut)] : story;
  return [...lines, `${violation.id} violated`, `  ${first}`, `  ${second}`, ...told.map((move) => `  - ${move}`)];
};

const jsonOf = ({ world, peers, requests, budget }: ExploreOptions, found: Exploration, millis: number) => ({
  world,
  peers,
  requests,
  budget,
  ...found,
  failure: found.failure && {
    id: found.failure.violation.id,
    facts: found.failure.violation.facts,
    story: found.failure.story,
  },
  millis: Math.round(millis),
});

export const exploreCommand = Command.make(
  "explore",
  options,
  ({ world, peers, requests, crashes, losses, duplicates, timers, pauses, lies, states, time, json }) =>
    Effect.gen(function* () {
      const millis = yield* parsed(time, parseDuration);
      const startedAt = performance.now();
      const bounds: ExploreOptions = {
        world,
        peers,
        requests,
        budget: { crashes, losses, duplicates, timers, pauses, lies },
        mostStates: states,
        isTimeUp: () => millis !== undefined && performance.now() - startedAt > millis,
        progress: (seen) => void (process.stderr.isTTY && process.stderr.write(`\r${seen} states`)),
      };
      const found = explore(bounds);
      if (process.stderr.isTTY) process.stderr.write("\r");
      const took = performance.now() - startedAt;
      yield* write(json ? [JSON.stringify(jsonOf(bounds, found, took))] : linesOf(bounds, found, took));
      if (found.failure !== undefined) yield* endAsFailed;
    }),
).pipe(
  Command.withDescription(
    "Walk every interleaving of a small cluster within bounds: messages in any order, crashes at any moment.",
  ),
);
