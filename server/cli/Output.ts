/** Everything the command line writes: results on standard output, the rest on standard error. */
import { Effect } from "effect";
import { stringify } from "yaml";
import { CliFailure } from "./CliFailure.ts";
import { problemLines } from "./Problem.ts";

const write = (stream: NodeJS.WriteStream, text: string): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    // A reader that went away has read enough.
    stream.write(text, () => resume(Effect.void));
  });

/** Text from elsewhere, without control characters, which could steer a terminal. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\u{fffd}");

/** JSON in one line. What could steer a terminal is escaped, which means the same to whoever parses it. */
export const jsonLine = (value: unknown): string =>
  JSON.stringify(value).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`).join(
      "",
    ),
  );

/** Writes lines to standard output and waits until they are handed over. */
export const printLines = (lines: ReadonlyArray<string>): Effect.Effect<void> =>
  write(process.stdout, lines.map((line) => `${line}\n`).join(""));

/** Writes lines to standard error and waits until they are handed over. */
export const printErrorLines = (lines: ReadonlyArray<string>): Effect.Effect<void> =>
  write(process.stderr, lines.map((line) => `${line}\n`).join(""));

/** Times of the API are Unix milliseconds; people read them as RFC 3339. */
const withTimes = (key: unknown, value: unknown): unknown =>
  typeof key === "string" && key.endsWith("At") && Number.isSafeInteger(value) && Math.abs(Number(value)) <= 8.64e15
    ? new Date(Number(value)).toISOString()
    : value;

/** A value in lines of YAML, in which everything unprintable is escaped. */
const yamlLines = (value: unknown): ReadonlyArray<string> =>
  stringify(value, withTimes, { lineWidth: 0, defaultStringType: "PLAIN" }).trimEnd().split("\n").map(printable);

export interface Printed {
  readonly json: boolean;
  /** One line above the value, for people only. */
  readonly headline?: string | undefined;
  readonly value: unknown;
}

/** Prints a result: one line of JSON, or a headline and the value as YAML. */
export const printResult = ({ json, headline, value }: Printed): Effect.Effect<void> =>
  printLines(
    json ? [jsonLine(value)] : [...(headline === undefined ? [] : [printable(headline)]), ...yamlLines(value)],
  );

/** Prints a failure on standard error: in words, or as one line of JSON. */
export const printFailure = (failure: CliFailure, json: boolean): Effect.Effect<void> => {
  const { kind, message, hint, problem, current } = failure;
  if (json) return printErrorLines([jsonLine({ error: { kind, message, hint, problem, current } })]);
  const own = problem === undefined ? message.split("\n") : [...problemLines(problem), `  ${message}`];
  const lines = hint === undefined ? own : [...own, `  ${hint}`];
  return printErrorLines(lines.map((line, index) => printable(index === 0 ? `custody: ${line}` : line)));
};
