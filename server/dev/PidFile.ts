/** Which process runs a peer: its number and when it began, so that a recycled number is never taken for it. */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Either, Schema } from "effect";
import { processStart } from "./ProcessStart.ts";

const PidSchema = Schema.parseJson(
  Schema.Struct({ pid: Schema.Number.pipe(Schema.int(), Schema.positive()), start: Schema.NonEmptyString }),
);

const decode = Schema.decodeUnknownEither(PidSchema);

/** Writes the calling process into a pid file. */
export const writePidFile = (path: string): void => {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, JSON.stringify({ pid: process.pid, start: processStart(process.pid) ?? "" }), { mode: 0o600 });
  renameSync(draft, path);
};

/** The process a pid file names, while it lives; undefined when it has ended, or the file is missing or damaged. */
export const runningPid = (path: string): number | undefined => {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
  const found = Either.getOrUndefined(decode(text));
  return found !== undefined && processStart(found.pid) === found.start ? found.pid : undefined;
};

/** Removes the pid file if it is the calling process's. */
export const removePidFile = (path: string): void => {
  if (runningPid(path) === process.pid) rmSync(path, { force: true });
};
