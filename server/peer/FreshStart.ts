/**
 * A byte store that looks empty until its first commit, which then replaces everything that is really there. Until a
 * peer was unsealed once, initializing it again mints new keys; the rows of the first attempt are sealed with keys that
 * are lost, so the new ones replace them in one transaction.
 */
import { type TableName, tableNames } from "../../core/Tables.ts";
import type { ByteStore, Change, StoredRow, StoreFailure } from "../../runtime/ByteStore.ts";

/** Rows before the first unseal: the peer, its vault, its counters and the head; far below this. */
const MOST_ROWS = 64;

export class FreshStart implements ByteStore {
  readonly #inner: ByteStore;
  #begun = false;

  constructor(inner: ByteStore) {
    this.#inner = inner;
  }

  readonly get = (table: TableName, key: string): StoredRow | undefined =>
    this.#begun ? this.#inner.get(table, key) : undefined;

  readonly scan = (table: TableName, after: string, limit: number): ReturnType<ByteStore["scan"]> =>
    this.#begun ? this.#inner.scan(table, after, limit) : [];

  readonly keys = (table: TableName, from: string, limit: number): ReadonlyArray<string> =>
    this.#begun ? this.#inner.keys(table, from, limit) : [];

  readonly commit = (changes: ReadonlyArray<Change>, done: (failure?: StoreFailure) => void): void => {
    if (this.#begun) return this.#inner.commit(changes, done);
    this.#inner.commit(this.#replacing(changes), (failure) => {
      this.#begun = failure === undefined;
      done(failure);
    });
  };

  #replacing(changes: ReadonlyArray<Change>): ReadonlyArray<Change> {
    const old = new Map<string, Change>();
    for (const table of tableNames)
      for (const { key } of this.#inner.scan(table, "", MOST_ROWS))
        old.set(`${table} ${key}`, { op: "remove", table, key });
    const replaced = changes.map((change): Change => {
      const there = old.delete(`${change.table} ${change.key}`);
      return there && change.op === "insert" ? { ...change, op: "replace" } : change;
    });
    return [...replaced, ...old.values()];
  }
}
