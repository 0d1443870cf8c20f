/** Results that are bytes: into a file that is named, or to standard output. */
import { writeFile } from "node:fs/promises";
import { Effect } from "effect";
import { type CliFailure, usageFailure } from "./CliFailure.ts";
import { optionalText } from "./KeyOptions.ts";
import { writeTo } from "./Output.ts";

export const outOption = optionalText("out", "FILE", "Where it is written. Default: standard output.");

/** Writes all of it; a file that is there is replaced. */
export const writeOut = (file: string, bytes: Uint8Array): Effect.Effect<void, CliFailure> =>
  Effect.tryPromise({
    try: () => writeFile(file, bytes),
    catch: () => usageFailure(`--out: ${file} cannot be written; check the folder and the disk`),
  });

export const printBytes = (bytes: Uint8Array): Effect.Effect<void, CliFailure> => writeTo(process.stdout, bytes);
