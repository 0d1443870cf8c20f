/** A start that fails leaves a folder as it found it, if no other has it: all that it made is removed again. */
import { existsSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { databaseFile, isMarkedInitialized, lockFile } from "./StoreDirectory.ts";

/**
 * Takes note of a directory before a database is opened in it.
 *
 * @returns removes the database and, where that was missing too, the directory, if both were made since and no peer
 * was initialized there; to be called once the database is closed, by whoever holds the directory still: another start
 * may have begun after this one, and run there now
 */
export const beforeFirstStart = (directory: string): (() => void) => {
  const path = resolve(directory);
  const hadDatabase = existsSync(databaseFile(path));
  const hadDirectory = existsSync(path);
  return () => {
    if (hadDatabase || isMarkedInitialized(path)) return;
    if (!hadDirectory) return rmSync(path, { recursive: true, force: true });
    const file = databaseFile(path);
    for (const made of [file, `${file}-wal`, `${file}-shm`, lockFile(path)]) rmSync(made, { force: true });
  };
};
