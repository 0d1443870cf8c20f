/** Space on the disks that copies of a database are written to. */
import { statfs } from "node:fs/promises";

/** What must stay free beside a copy, for the rows that a peer writes meanwhile. */
export const SPARE_BYTES = 64 * 1024 * 1024;

/** Bytes that this process may still write to the disk of a folder. */
export type FreeBytes = (folder: string) => Promise<number>;

export const freeBytes: FreeBytes = async (folder) => {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
};
