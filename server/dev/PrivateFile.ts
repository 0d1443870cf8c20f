/** Files and folders for this user alone. */
import { randomBytes } from "node:crypto";
import { chmod, mkdir, rename, writeFile } from "node:fs/promises";
import { Effect } from "effect";
import { type CliFailure, usageFailure } from "../cli/CliFailure.ts";

/** Makes a folder with mode 0700, or gives an existing one that mode. */
export const makePrivateFolder = (path: string): Effect.Effect<void, CliFailure> =>
  Effect.tryPromise({
    try: async () => {
      await mkdir(path, { recursive: true, mode: 0o700 });
      await chmod(path, 0o700);
    },
    catch: () => usageFailure(`${path} cannot be made a private folder; check the path and whose it is`),
  });

/** Writes a file with mode 0600 at once: a reader, or a crash, meets the old content or the new. */
export const writePrivateFile = (path: string, content: string): Effect.Effect<void, CliFailure> =>
  Effect.tryPromise({
    try: async () => {
      const draft = `${path}.${randomBytes(8).toString("hex")}`;
      await writeFile(draft, content, { mode: 0o600, flag: "wx", flush: true });
      await rename(draft, path);
    },
    catch: () => usageFailure(`${path} cannot be written; check the folder and the disk`),
  });
