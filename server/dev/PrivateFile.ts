/** Files and folders for this user alone. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Effect } from "effect";
import { type CliFailure, usageFailure } from "../cli/CliFailure.ts";

/**
 * Makes a folder and those above it, one by one: Node's own way never ends where the system makes none, as below /proc,
 * and says of the new one that it is missing.
 */
const makeFolders = async (path: string): Promise<void> => {
  const missing: Array<string> = [];
  for (let at = resolve(path); !existsSync(at); at = dirname(at)) missing.unshift(at);
  for (const each of missing)
    await mkdir(each, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      // Somebody else makes it meanwhile.
      if (error.code !== "EEXIST") throw error;
    });
};

/** Makes a folder with mode 0700, or gives an existing one that mode. */
export const makePrivateFolder = (path: string): Effect.Effect<void, CliFailure> =>
  Effect.tryPromise({
    try: async () => {
      await makeFolders(path);
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
