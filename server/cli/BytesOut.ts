/** Results that are bytes: into a file that is named, or to standard output. */
import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Effect } from "effect";
import type { Scope } from "effect/Scope";
import { CliFailure, usageFailure } from "./CliFailure.ts";
import { optionalText } from "./KeyOptions.ts";
import { codeOf, writeTo } from "./Output.ts";

export const outOption = optionalText("out", "FILE", "Where it is written. Default: standard output.");

/** More than any result that is written: what a full disk does not take is found before the result is made. */
const RESERVED_BYTES = 16 * 1024;

/** A file that was found to take a result. */
export interface OutFile {
  /** Writes all of it. Where that fails, what was there before is there still. */
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, CliFailure>;
}

interface OpenPart {
  readonly handle: FileHandle;
  /** The file beside the one that is named, whose name it gets; undefined where what is named is no file. */
  readonly part: string | undefined;
  readonly target: string;
}

const writeAll = async (handle: FileHandle, bytes: Uint8Array, from?: number): Promise<void> => {
  for (let at = 0; at < bytes.length; ) {
    const position = from === undefined ? null : from + at;
    at += (await handle.write(bytes, at, bytes.length - at, position)).bytesWritten;
  }
};

const opened = async (file: string): Promise<OpenPart> => {
  const found: Stats | undefined = await stat(file).catch((fault: unknown) => {
    if (codeOf(fault) === "ENOENT") return undefined;
    throw fault;
  });
  // A device or a pipe has no content to keep, and must stay what it is.
  if (found !== undefined && !found.isFile())
    return { handle: await open(file, constants.O_WRONLY), part: undefined, target: file };
  const target = found === undefined ? file : await realpath(file);
  const part = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString("hex")}.part`);
  const handle = await open(part, "wx");
  try {
    if (found !== undefined) await handle.chmod(found.mode & 0o777);
    await writeAll(handle, new Uint8Array(RESERVED_BYTES), 0);
  } catch (fault) {
    await handle.close();
    await rm(part, { force: true });
    throw fault;
  }
  return { handle, part, target };
};

const written = async ({ handle, part, target }: OpenPart, bytes: Uint8Array): Promise<void> => {
  if (part === undefined) return writeAll(handle, bytes);
  await writeAll(handle, bytes, 0);
  await handle.truncate(bytes.length);
  await handle.sync();
  await rename(part, target);
};

/** Opens a file for a result, before anything is asked for that makes one; a file that is there is replaced. */
export const openOut = (file: string): Effect.Effect<OutFile, CliFailure, Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: () => opened(file),
      catch: (fault) =>
        usageFailure(`--out: ${file} cannot be written (${codeOf(fault)}); check the folder and the disk`),
    }),
    ({ handle, part }) =>
      Effect.promise(async () => {
        await handle.close();
        if (part !== undefined) await rm(part, { force: true });
      }),
  ).pipe(
    Effect.map((out) => ({
      write: (bytes) =>
        Effect.tryPromise({
          try: () => written(out, bytes),
          catch: (fault) =>
            new CliFailure({
              kind: "unwritten",
              message: `--out: ${file} cannot be written (${codeOf(fault)})`,
              hint: "check the folder and the disk",
            }),
        }),
    })),
  );

export const printBytes = (bytes: Uint8Array): Effect.Effect<void, CliFailure> => writeTo(process.stdout, bytes);
