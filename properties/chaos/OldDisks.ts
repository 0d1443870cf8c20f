/** Snapshots of a peer's disk, as a machine's keeper takes them: no backup of the product, so nothing in them says how old they are. */
import { chmodSync, copyFileSync, mkdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Either } from "effect";
import { decode } from "../../core/codec/CborReader.ts";
import { rowCodec } from "../../core/Tables.ts";
import { places } from "../../server/sqlite/Layout.ts";
import { databaseFile } from "../../server/sqlite/StoreDirectory.ts";

interface Statement {
  readonly get: (...parameters: ReadonlyArray<unknown>) => unknown;
}

interface Database {
  readonly backup: (file: string) => Promise<unknown>;
  readonly prepare: (sql: string) => Statement;
  readonly close: () => void;
}

type Open = new (file: string, options: { readonly readonly: boolean }) => Database;

const sqlite = createRequire(createRequire(import.meta.url).resolve("@effect/sql-sqlite-node"))(
  "better-sqlite3",
) as Open;

const read = <A>(file: string, use: (database: Database) => A): A => {
  const database = new sqlite(file, { readonly: true });
  try {
    return use(database);
  } finally {
    database.close();
  }
};

/** The number of the last transaction in a database; 0 before the first. */
export const transactionsIn = (file: string): number =>
  read(file, (database) => {
    for (const place of places) {
      const found = database.prepare(`SELECT row FROM ${place} WHERE name = 'head'`).get() as
        | { readonly row: Uint8Array }
        | undefined;
      if (found !== undefined)
        return Either.getOrThrow(decode(rowCodec("head"), new Uint8Array(found.row))).transactions;
    }
    return 0;
  });

export interface OldDisk {
  readonly file: string;
  /** The number of the last transaction in it. */
  readonly transactions: number;
}

export class OldDisks {
  readonly #folder: string;
  readonly #directory: string;
  #made = 0;

  /**
   * @param folder where copies are kept
   * @param directory the peer's data directory
   */
  constructor(folder: string, directory: string) {
    this.#folder = folder;
    this.#directory = directory;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** Copies the database of a peer that may be running. */
  async take(): Promise<OldDisk> {
    const file = join(this.#folder, `disk-${(this.#made += 1)}.db`);
    const database = new sqlite(databaseFile(this.#directory), { readonly: true });
    try {
      await database.backup(file);
    } finally {
      database.close();
    }
    chmodSync(file, 0o600);
    return { file, transactions: transactionsIn(file) };
  }

  /** Puts a copy in the place of the database of a peer that has ended; the number of the last transaction that was there. */
  putBack({ file }: OldDisk): number {
    const target = databaseFile(this.#directory);
    const newest = transactionsIn(target);
    for (const each of [target, `${target}-wal`, `${target}-shm`]) rmSync(each, { force: true });
    copyFileSync(file, target);
    return newest;
  }
}
