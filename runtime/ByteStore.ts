/**
 * The narrowest port to a disk: named tables of sealed rows, read synchronously,
 * written in flushed transactions. SQLite, the simulated disk and plain memory
 * implement it and pass the same tests (properties/StoreContract.test.ts).
 */
import type { TableName } from "../core/Tables.ts";

/** A row as it lies on disk: its canonical encoding and the integrity seal over it. */
export interface StoredRow {
  readonly row: Uint8Array;
  readonly seal: Uint8Array;
}

/**
 * One row change. `insert` fails the transaction when the key exists already, `replace` and `remove` fail it when it
 * does not: the core always knows which it means.
 */
export type Change =
  | { readonly op: "insert" | "replace"; readonly table: TableName; readonly key: string; readonly value: StoredRow }
  | { readonly op: "remove"; readonly table: TableName; readonly key: string };

/** The outcome of a transaction whose flush failed is unknown: a caller that gets this must stop. */
export class StoreFailure extends Error {
  override readonly name = "StoreFailure";
}

export interface ByteStore {
  /** The committed row, or undefined. Throws {@link StoreFailure} when the disk cannot be read. */
  readonly get: (table: TableName, key: string) => StoredRow | undefined;
  /** Up to `limit` committed rows with a key greater than `after`, ascending by the key's bytes. Keys are ASCII. */
  readonly scan: (
    table: TableName,
    after: string,
    limit: number,
  ) => ReadonlyArray<{ readonly key: string; readonly value: StoredRow }>;
  /** Up to `limit` committed keys from `from` on, itself included, ascending by their bytes; rows are not looked at. */
  readonly keys: (table: TableName, from: string, limit: number) => ReadonlyArray<string>;
  /**
   * Applies all changes in one transaction, flushes it to the disk and then calls `done` once: without an
   * argument when everything is durable, with a failure when the outcome is unknown. At most one commit
   * is under way at a time. An empty list is a mistake of the caller.
   */
  readonly commit: (changes: ReadonlyArray<Change>, done: (failure?: StoreFailure) => void) => void;
}
