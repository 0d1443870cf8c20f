/** `custody sim shrink`: from a failing run to the smallest one that fails the same way. */
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect } from "effect";
import { parseDuration } from "../hunting/Seeds.ts";
import { readSource, runSource, seedOptions, sourceArgument } from "./RunSource.ts";
import { keepFailure, SHRINK_MILLIS, shrinkWithin } from "./Shrinking.ts";
import { endAsFailed, parsed, write } from "./Terminal.ts";

const options = {
  ...seedOptions,
  out: Options.text("out").pipe(
    Options.withPseudoName("TAPE"),
    Options.withDescription("The tape to write; one that is there is replaced."),
  ),
  time: Options.text("time").pipe(
    Options.withPseudoName("DURATION"),
    Options.withDescription(
      `End with what there is after this long, such as 60s; without it ${SHRINK_MILLIS / 1000}s.`,
    ),
    Options.optional,
  ),
  json: Options.boolean("json").pipe(Options.withDescription("Print the result as one line of JSON.")),
};

export const shrinkCommand = Command.make(
  "shrink",
  { source: sourceArgument, ...options },
  ({ source: text, out, time, json, ...given }) =>
    Effect.gen(function* () {
      const millis = yield* parsed(time, parseDuration);
      const source = yield* readSource(text, given);
      const failing = yield* runSource(source);
      if (failing.result.violation === undefined)
        return yield* write(
          json ? [JSON.stringify({ violation: null })] : ["no violation: there is nothing to shrink"],
        );
      const shrunk = shrinkWithin(failing, millis ?? SHRINK_MILLIS);
      const kept = yield* keepFailure(failing, shrunk, out);
      const { id, facts } = failing.result.violation;
      const { lines, ...rest } = kept;
      yield* write(json ? [JSON.stringify({ violation: { id, facts }, ...rest })] : lines);
      yield* endAsFailed;
    }),
).pipe(Command.withDescription("Make a failing run as small as it gets, and write it as a tape."));
