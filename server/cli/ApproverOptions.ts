/** The options that say for whom something is registered. */
import * as Options from "@effect/cli/Options";
import { Either } from "effect";
import { type CliFailure, usageFailure } from "./CliFailure.ts";

export const approverIdOption = Options.text("id").pipe(
  Options.withPseudoName("ID"),
  Options.withDescription("The approver's id, such as alice."),
);

export const metadataOption = Options.text("metadata").pipe(
  Options.withPseudoName("KEY=VALUE"),
  Options.withDescription("Metadata for search and display; may be repeated."),
  Options.repeated,
  // As the parser has it anyway; stated, so that help shows it.
  Options.withDefault([]),
);

/** The metadata of a body: nothing without pairs; a key given twice is refused rather than dropped. */
export const metadataOf = (
  pairs: ReadonlyArray<string>,
): Either.Either<{ readonly metadata?: Readonly<Record<string, string>> }, CliFailure> => {
  const entries = pairs.map((pair) => {
    const equals = pair.indexOf("=");
    return [pair.slice(0, Math.max(equals, 0)), pair.slice(equals + 1)] as const;
  });
  const malformed = entries.findIndex(([key]) => key === "");
  if (malformed !== -1) return Either.left(usageFailure(`--metadata ${malformed + 1} is not key=value`));
  const twice = entries.findIndex(([key], index) => entries.findIndex(([other]) => other === key) !== index);
  if (twice !== -1) return Either.left(usageFailure(`--metadata ${twice + 1} repeats a key; keep one of them`));
  return Either.right(entries.length === 0 ? {} : { metadata: Object.fromEntries(entries) });
};
