/** `custody sim shrink`: from a failing run to the smallest one that fails the same way. */
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Option } from "effect";
import { readSource, runSource, seedOptions, sourceArgument } from "./RunSource.ts";
import { keepFailure, SHRINK_EVENTS, shrinkWithin } from "./Shrinking.ts";
import { between, endAsFailed, write } from "./Terminal.ts";

const MOST_EVENTS = 1_000_000_000;

const options = {
  ...seedOptions,
  out: Options.text("out").pipe(
    Options.withPseudoName("TAPE"),
    Options.withDescription("The tape to write; one that is there is replaced."),
  ),
  events: between(
    "events",
    1,
    MOST_EVENTS,
    `End with the smallest run found once the smaller runs had so many events and requests; without it ${SHRINK_EVENTS}. The same budget gives the same tape on every machine. Ctrl-C ends it earlier, with the smallest run so far.`,
  ),
  json: Options.boolean("json").pipe(Options.withDescription("Print the result as one line of JSON.")),
};

export const shrinkCommand = Command.make(
  "shrink",
  { source: sourceArgument, ...options },
  ({ source: text, out, events, json, ...given }) =>
    Effect.gen(function* () {
      const source = yield* readSource(text, given);
      const failing = yield* runSource(source);
      if (failing.result.violation === undefined)
        return yield* write(
          json ? [JSON.stringify({ violation: null })] : ["no violation: there is nothing to shrink"],
        );
      const shrunk = yield* shrinkWithin(
        failing,
        Option.getOrElse(events, () => SHRINK_EVENTS),
      );
      const kept = yield* keepFailure(failing, shrunk, out);
      // What the tape leads to, as the lines tell it.
      const { id, facts } = shrunk.recording.result.violation ?? failing.result.violation;
      const { lines, story, ...rest } = kept;
      const told = { traitor: story.traitor ?? null, lines: story.lines };
      yield* write(json ? [JSON.stringify({ violation: { id, facts }, ...rest, story: told })] : lines);
      yield* endAsFailed;
    }).pipe(Effect.uninterruptible),
).pipe(Command.withDescription("Make a failing run as small as it gets, and write it as a tape."));
