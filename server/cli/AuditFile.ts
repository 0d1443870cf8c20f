/** Reads exported audit files line by line, however long they are, and writes new ones. */
import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { Effect, Either, type Scope } from "effect";
import { type JsonValue, parseStrictJson } from "../../core/codec/StrictJson.ts";
import { type CliFailure, usageFailure } from "./CliFailure.ts";
import { codeOf, isUnread, printLines } from "./Output.ts";

/** Far above the longest event. */
const LINE_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

/** Objects as plain records; the parser has refused a key that is there twice. */
const plain = (value: JsonValue): unknown => {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, inner]) => [key, plain(inner)]));
  return Array.isArray(value) ? value.map(plain) : value;
};

const parsedLine = (line: Uint8Array, take: (value: unknown) => string | undefined): string | undefined => {
  const json = parseStrictJson(line);
  return Either.isLeft(json) ? "it is not JSON" : take(plain(json.right));
};

const judge = async (file: string, take: (value: unknown) => string | undefined): Promise<string | undefined> => {
  let rest: Uint8Array = new Uint8Array(0);
  let number = 1;
  const at = (fault: string): string => `${file}, line ${number}: ${fault}`;
  const source = file === "-" ? process.stdin : createReadStream(file);
  for await (const chunk of source) {
    if (!(chunk instanceof Uint8Array)) return at("it is no text");
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      const line = Buffer.concat([rest, chunk.subarray(from, end)]);
      rest = new Uint8Array(0);
      from = end + 1;
      const fault = line.length > LINE_BYTES ? "it is too long" : parsedLine(line, take);
      if (fault !== undefined) return at(fault);
      number += 1;
    }
    rest = Buffer.concat([rest, chunk.subarray(from)]);
    if (rest.length > LINE_BYTES) return at("it is too long");
  }
  return rest.length === 0 ? undefined : at("it breaks off");
};

/**
 * Hands every line of a file to `take`, as parsed JSON, until that finds a fault.
 *
 * @param file its path, or `-` for standard input
 * @returns the first fault with file and line, or undefined; fails when the file cannot be read
 */
export const faultInFile = (
  file: string,
  take: (value: unknown) => string | undefined,
): Effect.Effect<string | undefined, CliFailure> =>
  Effect.tryPromise({
    try: () => judge(file, take),
    catch: (cause) => usageFailure(`${file} cannot be read (${codeOf(cause)}); check the path`),
  });

export interface LineOutput {
  /** Writes lines and waits until they are handed over; to a file, until they are on its disk. */
  readonly write: (lines: ReadonlyArray<string>) => Effect.Effect<void, CliFailure>;
  /** Whether nobody reads any more. */
  readonly isClosed: () => boolean;
}

const toTerminal: LineOutput = {
  write: (lines) => (lines.length === 0 ? Effect.void : printLines(lines)),
  isClosed: () => isUnread(),
};

const opened = (file: string): Effect.Effect<FileHandle, CliFailure> =>
  Effect.tryPromise({
    try: () => open(file, "wx", 0o600),
    catch: (cause) =>
      usageFailure(
        codeOf(cause) === "EEXIST"
          ? `--out: ${file} is there already; name a new file, and the next event with --since`
          : `--out: ${file} cannot be made (${codeOf(cause)}); check the path`,
      ),
  });

/** A new file, or standard output where none is named. An existing file is refused: it may be the only copy. */
export const openLines = (file: string | undefined): Effect.Effect<LineOutput, CliFailure, Scope.Scope> =>
  file === undefined
    ? Effect.succeed(toTerminal)
    : Effect.acquireRelease(opened(file), (handle) => Effect.promise(() => handle.close())).pipe(
        Effect.map((handle) => ({
          write: (lines) =>
            Effect.tryPromise({
              try: async () => {
                await handle.appendFile(lines.map((line) => `${line}\n`).join(""));
                await handle.datasync();
              },
              catch: (cause) =>
                usageFailure(`--out: ${file} cannot be written (${codeOf(cause)}); it holds what came before`),
            }),
          isClosed: () => false,
        })),
      );
