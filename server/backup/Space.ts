/** Space on the disks that copies of a database are written to. */
import { statfs } from "node:fs/promises";
import { Effect } from "effect";

/** What must stay free beside a copy, for the rows that a peer writes meanwhile. */
export const SPARE_BYTES = 64 * 1024 * 1024;

/** Bytes that this process may still write to the disk of a folder. */
export type FreeBytes = (folder: string) => Promise<number>;

export const freeBytes: FreeBytes = async (folder) => {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
};

/**
 * Whether a copy may be written into a folder: a disk that it fills may be that of a peer, whose next row ends it.
 *
 * @returns why not, with both numbers; undefined where it may
 */
export const spaceFault = (folder: string, bytes: number, free: FreeBytes): Effect.Effect<string | undefined> =>
  Effect.map(
    Effect.promise(() => free(folder)),
    (found) =>
      found < bytes + SPARE_BYTES
        ? `its disk has ${found} bytes free, and ${bytes + SPARE_BYTES} are needed; free the difference`
        : undefined,
  );
