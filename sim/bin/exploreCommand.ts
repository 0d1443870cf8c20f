/** `custody sim explore`: every interleaving of a small world, each configuration once. */
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Option } from "effect";
import { type Budget, type Scope, worlds } from "../explore/Configuration.ts";
import { type Exploration, type ExploreOptions, explore } from "../explore/Explorer.ts";
import { parseDuration } from "../hunting/Seeds.ts";
import { between, endAsFailed, misused, parsed, write } from "./Terminal.ts";

const MOST_STATES = 50_000_000;
const MOST_FAULTS = 8;

type Bounds = Pick<Scope, "peers" | "requests"> & Budget;
type World = Scope["world"];

const NOTHING = { losses: 0, duplicates: 0, timers: 0, pauses: 0, lies: 0 };

/** Bounds within which a world is searched whole in about a minute. */
const usual: Readonly<Record<World, Bounds>> = {
  registrations: { peers: 3, requests: 2, ...NOTHING, crashes: 1 },
  signing: { peers: 3, requests: 2, ...NOTHING, crashes: 1, losses: 1, duplicates: 1 },
  promotion: { peers: 2, requests: 1, ...NOTHING, crashes: 1, losses: 1 },
};

/** What a bound is where it is not given, by world where they differ. */
const usualWords = (name: keyof Bounds): string => {
  const values = worlds.map((world) => usual[world][name]);
  const all = new Set(values);
  return all.size === 1 ? `${values[0]}` : worlds.map((world, index) => `${values[index]} (${world})`).join(", ");
};

const bound = (name: keyof Bounds, least: number, most: number, description: string) =>
  between(name, least, most, `${description} By default ${usualWords(name)}.`);

const options = {
  world: Options.choice("world", worlds).pipe(
    Options.withDescription(
      "What is asked for: registrations of one key under different ids, signatures of different messages, or the promotion of the last peer, which is alone, while callers register there.",
    ),
    Options.withDefault("registrations" as const),
  ),
  peers: bound("peers", 1, 5, "Members of the cluster, or of the one that is to be."),
  requests: bound("requests", 0, 4, "Callers, through different peers."),
  crashes: bound("crashes", 0, MOST_FAULTS, "Processes that end at any moment, also between two actions of a step."),
  losses: bound("losses", 0, MOST_FAULTS, "Messages that are lost."),
  duplicates: bound("duplicates", 0, MOST_FAULTS, "Messages that arrive twice."),
  timers: bound("timers", 0, MOST_FAULTS, "Timers that fire while something else could still happen."),
  pauses: bound("pauses", 0, MOST_FAULTS, "Times that more than a proposal has goes by at once."),
  lies: bound("lies", 0, MOST_FAULTS, "World signing: what the last peer says wrongly as a coordinator."),
  states: between("states", 1, MOST_STATES, "End after so many distinct states."),
  time: Options.text("time").pipe(
    Options.withPseudoName("DURATION"),
    Options.withDescription("End after this long, such as 60s, 5m or 2h."),
    Options.optional,
  ),
  json: Options.boolean("json").pipe(Options.withDescription("Print the result as one line of JSON.")),
};

/** Moves of a story that are printed; the search is depth first, so it may be longer than necessary. */
const MOST_MOVES = 60;

const asked: Readonly<Record<World, string>> = {
  registrations: "conflicting requests",
  signing: "signatures",
  promotion: "registrations at the source",
};

const scopeLine = ({ world, peers, requests, budget }: ExploreOptions): string =>
  `${peers} members, ${requests} ${asked[world]}, at most ${Object.entries(budget)
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

export const exploreCommand = Command.make("explore", options, ({ world, states, time, json, ...given }) =>
  Effect.gen(function* () {
    const bounded = (name: keyof Bounds): number => Option.getOrElse(given[name], () => usual[world][name]);
    const peers = bounded("peers");
    if (world === "promotion" && peers < 2) yield* misused("--peers must be 2 at least where one is promoted");
    const millis = yield* parsed(time, parseDuration);
    const startedAt = performance.now();
    const bounds: ExploreOptions = {
      world,
      peers,
      requests: bounded("requests"),
      budget: {
        crashes: bounded("crashes"),
        losses: bounded("losses"),
        duplicates: bounded("duplicates"),
        timers: bounded("timers"),
        pauses: bounded("pauses"),
        lies: bounded("lies"),
      },
      mostStates: Option.getOrElse(states, () => MOST_STATES),
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
