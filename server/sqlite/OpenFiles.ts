/**
 * Whether the files of an open database still bear their names. SQLite goes on writing into files that were deleted,
 * moved or replaced without its knowledge, and rows acknowledged then are lost with the process.
 */
import { statSync } from "node:fs";
import { basename } from "node:path";

interface Known {
  readonly path: string;
  /** Device and inode. */
  readonly identity: string | undefined;
}

const identityOf = (path: string): string | undefined => {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev}:${found.ino}`;
};

export class OpenFiles {
  readonly #known: ReadonlyArray<Known>;

  /** Takes note of a database that is open with its log in use: neither is given another file before it is closed. */
  constructor(database: string) {
    this.#known = [database, `${database}-wal`].map((path) => ({ path, identity: identityOf(path) }));
  }

  /** Which file was replaced, or is gone; undefined while all are as they were opened. */
  lost(): string | undefined {
    const other = this.#known.find(({ path, identity }) => identityOf(path) !== identity);
    return other && basename(other.path);
  }
}
