/**
 * What a peer knows of its rows, in a file beside its database. It is never flushed: a killed process leaves it whole,
 * and a power loss costs the next unseal the time to read every row.
 */
import { closeSync, constants, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { join, resolve } from "node:path";
import type { CheckpointFile } from "../../runtime/Checkpoint.ts";

/** The checkpoint inside a data directory. It may be deleted while no peer runs. */
export const checkpointFile = (directory: string): string => join(resolve(directory), "custody.checkpoint");

const { O_APPEND, O_CREAT, O_TRUNC, O_WRONLY } = constants;

const writeAll = (descriptor: number, parts: ReadonlyArray<Uint8Array>): void => {
  for (const part of parts)
    for (let at = 0; at < part.length; ) at += writeSync(descriptor, part, at, part.length - at);
};

/** The file of a directory whose lock this process holds; a disk without room for it makes it vanish. */
export const openCheckpoint = (directory: string): CheckpointFile => {
  const file = checkpointFile(directory);
  const next = `${file}.new`;
  let descriptor: number | undefined;
  const close = (): void => {
    if (descriptor !== undefined) closeSync(descriptor);
    descriptor = undefined;
  };
  const attempt = (write: () => void): void => {
    try {
      write();
    } catch {
      // Changes that are missing would make the rest worthless; the next unseal reads every row, and begins anew.
      close();
      for (const each of [file, next]) rmSync(each, { force: true, recursive: true });
    }
  };
  return {
    read: () => {
      try {
        return readFileSync(file);
      } catch {
        return undefined;
      }
    },
    replace: (parts) =>
      attempt(() => {
        close();
        descriptor = openSync(next, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o600);
        writeAll(descriptor, parts);
        renameSync(next, file);
      }),
    append: (parts) =>
      attempt(() => {
        descriptor ??= openSync(file, O_WRONLY | O_APPEND, 0o600);
        writeAll(descriptor, parts);
      }),
  };
};
