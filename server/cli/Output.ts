/** Everything the command line writes: results on standard output, the rest on standard error. */
import { fstatSync, writeSync } from "node:fs";
import type { Writable } from "node:stream";
import { Effect } from "effect";
import { stringify } from "yaml";
import { CliFailure, usageFailure } from "./CliFailure.ts";
import { problemLines } from "./Problem.ts";

/** What was written to a stream, and whether anybody reads it. */
type Sink = Pick<Writable, "write">;

/** Those whose reader went away: the stream itself forgets it. */
const unread = new WeakSet<Sink>();

/** Whether the reader of standard output went away, so that a command which goes on has no reason to. */
export const isUnread = (sink: Sink = process.stdout): boolean => unread.has(sink);

/** The system's name of a fault. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown";

/**
 * Writes all of it and waits until it is handed over. A reader that went away has read enough; whatever else keeps a
 * result from being written is a failure, as it is with `--out`.
 */
export const writeTo = (sink: Sink, content: string | Uint8Array): Effect.Effect<void, CliFailure> =>
  Effect.async((resume) => {
    sink.write(content, (error) => {
      if (error === null || error === undefined) return resume(Effect.void);
      if (codeOf(error) === "EPIPE") unread.add(sink);
      if (unread.has(sink)) return resume(Effect.void);
      resume(
        usageFailure(`standard output cannot be written (${codeOf(error)}); it holds what came before, or a part`),
      );
    });
  });

/**
 * Makes every write to standard output whole or a failure where that is a file: Node takes one that the disk had room
 * for in part as done.
 */
export const writeWhole = (stream: NodeJS.WriteStream & { readonly fd: number }): void => {
  if (!fstatSync(stream.fd).isFile()) return;
  stream._write = (chunk: Uint8Array, _encoding, done) => {
    try {
      for (let at = 0; at < chunk.length; ) at += writeSync(stream.fd, chunk, at);
    } catch (cause) {
      return done(cause instanceof Error ? cause : new Error(String(cause)));
    }
    done();
  };
};

/** Text from elsewhere, without control characters, which could steer a terminal. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\u{fffd}");

/** JSON in one line. What could steer a terminal is escaped, which means the same to whoever parses it. */
export const jsonLine = (value: unknown): string =>
  JSON.stringify(value).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`).join(
      "",
    ),
  );

const joined = (lines: ReadonlyArray<string>): string => lines.map((line) => `${line}\n`).join("");

/** Writes lines to standard output. */
export const printLines = (lines: ReadonlyArray<string>): Effect.Effect<void, CliFailure> =>
  writeTo(process.stdout, joined(lines));

/** Writes lines to standard error; where that cannot be written, nothing could say so. */
export const printErrorLines = (lines: ReadonlyArray<string>): Effect.Effect<void> =>
  Effect.ignore(writeTo(process.stderr, joined(lines)));

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
export const printResult = ({ json, headline, value }: Printed): Effect.Effect<void, CliFailure> =>
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
