/** The driver's port to its disk: typed rows, read at once, written in flushed transactions. */
import type { RowView, TableName, Write } from "../core/Tables.ts";
import type { StoreFailure } from "./ByteStore.ts";

/** A stored row that is not as this peer wrote it there: tampered, of mixed age, or rotten. */
export class IntegrityFailure extends Error {
  override readonly name = "IntegrityFailure";
  /** Table and key, never content. */
  readonly where: string;
  constructor(where: string, why: string) {
    super(`${where}: ${why}`);
    this.where = where;
  }
}

/** A stored row that this peer wrote and this program cannot read: a later program has been at work here. */
export class UnreadableRow extends Error {
  override readonly name = "UnreadableRow";
  constructor(where: string, why: string) {
    super(`${where} was written by another version of this program (${why}); start that one`);
  }
}

/** The keys of rows, for those that look for rows; only a store that lists are read from has it. */
export interface KeyView {
  /**
   * Up to `limit` committed keys from `from` on, itself included, ascending. No seal is opened: what is found under
   * them must be read as a row before it is believed.
   */
  readonly keys: (table: TableName, from: string, limit: number) => ReadonlyArray<string>;
}

export interface PeerStore extends RowView {
  /** The same rows for the first reads of a process: what they found must be what is verified when it is unsealed. */
  readonly atStart: RowView;
  /**
   * One flushed transaction. `done` is called once; with a failure the outcome is unknown and the peer
   * must stop. Throws {@link IntegrityFailure} before anything is written when a row it replaces does not hold.
   */
  readonly commit: (writes: ReadonlyArray<Write>, done: (failure?: StoreFailure) => void) => void;
}
