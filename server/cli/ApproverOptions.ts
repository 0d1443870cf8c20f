/** The options and arguments that say which approver is meant, and its metadata. */
import * as Args from "@effect/cli/Args";
import * as Options from "@effect/cli/Options";
import { Either } from "effect";
import { parseApproverRef } from "../../core/credential/ApproverRef.ts";
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

/** Pairs written as `key=value`; a key given twice is refused rather than dropped. `what` names each of them. */
export const pairsOf = (
  pairs: ReadonlyArray<string>,
  what: string,
): Either.Either<Readonly<Record<string, string>>, CliFailure> => {
  const entries = pairs.map((pair) => {
    const equals = pair.indexOf("=");
    return [pair.slice(0, Math.max(equals, 0)), pair.slice(equals + 1)] as const;
  });
  const malformed = entries.findIndex(([key]) => key === "");
  if (malformed !== -1) return Either.left(usageFailure(`${what} ${malformed + 1} is not key=value`));
  const twice = entries.findIndex(([key], index) => entries.findIndex(([other]) => other === key) !== index);
  if (twice !== -1) return Either.left(usageFailure(`${what} ${twice + 1} repeats a key; keep one of them`));
  return Either.right(Object.fromEntries(entries));
};

/** The metadata of a body: nothing without pairs. */
export const metadataOf = (
  pairs: ReadonlyArray<string>,
): Either.Either<{ readonly metadata?: Readonly<Record<string, string>> }, CliFailure> =>
  pairs.length === 0 ? Either.right({}) : Either.map(pairsOf(pairs, "--metadata"), (metadata) => ({ metadata }));

/** One approver version, by its complete ref. */
export const refArgument = Args.text({ name: "ref" }).pipe(
  Args.withDescription("The complete ref, as register printed it."),
);

/** The path of a version; a ref that is not complete is refused here. */
export const pathOf = (ref: string): Either.Either<string, CliFailure> =>
  Either.mapBoth(parseApproverRef(ref), {
    onLeft: () => usageFailure("this is not a complete ref; give id@sha256: and 64 lower-case hexadecimal characters"),
    onRight: () => `/v1/custody/approvers/${encodeURIComponent(ref)}`,
  });
