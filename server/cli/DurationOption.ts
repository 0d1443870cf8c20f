/** An option whose value is a duration such as `30s`. */
import * as Options from "@effect/cli/Options";
import { Schema } from "effect";
import { duration } from "../config/Setting.ts";

/**
 * The option `--<name> DURATION`, in milliseconds.
 *
 * @param range the bounds in words, as the refusal shows them
 */
export const durationOption = (
  name: string,
  [leastMillis, mostMillis]: readonly [number, number],
  range: string,
): Options.Options<number> =>
  Options.text(name).pipe(
    Options.withPseudoName("DURATION"),
    Options.filterMap(
      Schema.decodeOption(duration(leastMillis, mostMillis, range)),
      `--${name} must be a duration from ${range}, such as 250ms, 30s, 5m or 12h`,
    ),
  );
