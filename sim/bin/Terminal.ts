/** What the subcommands of `custody sim` share: their output, their refusals and their bounded numbers. */
import * as HelpDoc from "@effect/cli/HelpDoc";
import * as Options from "@effect/cli/Options";
import * as ValidationError from "@effect/cli/ValidationError";
import { Effect, type Either, Option } from "effect";

/** Says what is wrong and fails as the parser itself would; 2 is the exit code of that. */
export const misused = (message: string): Effect.Effect<never, ValidationError.ValidationError> =>
  Effect.zipRight(
    Effect.sync(() =>
      process.stderr.write(`${message}
`),
    ),
    Effect.fail(ValidationError.invalidValue(HelpDoc.p(message))),
  );

/** An option that is a whole number within bounds, or absent. */
export const between = (
  name: string,
  least: number,
  most: number,
  description: string,
): Options.Options<Option.Option<number>> =>
  Options.integer(name).pipe(
    Options.withPseudoName("N"),
    Options.filterMap(
      (value) => (value >= least && value <= most ? Option.some(value) : Option.none()),
      `--${name} must be a whole number from ${least} to ${most}`,
    ),
    Options.withDescription(description),
    Options.optional,
  );

/** Prints lines and waits until they are out. */
export const write = (lines: ReadonlyArray<string>): Effect.Effect<void> =>
  Effect.async((resume) => {
    process.stdout.write(lines.map((line) => `${line}\n`).join(""), () => resume(Effect.void));
  });

/** Ends the process with 1, in whichever program this command runs: a violated invariant is a result, not an error. */
export const endAsFailed: Effect.Effect<void> = Effect.sync(() => process.exit(1));

/** The value of an optional text; wrong usage where it makes no sense. */
export const parsed = <A>(text: Option.Option<string>, parse: (text: string) => Either.Either<A, string>) =>
  Option.match(text, {
    onNone: () => Effect.succeed(undefined),
    onSome: (given) => Effect.catchAll(parse(given), misused),
  });
