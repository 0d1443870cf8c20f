/** The byte store without a disk: for tests and for a peer that may forget. Passes properties/StoreContract.test.ts. */
import type { TableName } from "../core/Tables.ts";
import { type ByteStore, type Change, StoreFailure, type StoredRow } from "./ByteStore.ts";

const asciiKey = /^[\x20-\x7e]+$/;

/**
 * The checks of every store before it starts a commit: at least one change, keys of printable ASCII, and no row touched
 * twice (so that the order of changes cannot matter). Throws TypeError: such a list is a mistake in this program.
 */
export const assertChanges = (changes: ReadonlyArray<Change>): void => {
  if (changes.length === 0) throw new TypeError("a commit needs at least one change; send none instead");
  const touched = new Set<string>();
  for (const { table, key } of changes) {
    if (!asciiKey.test(key)) throw new TypeError(`a key of table ${table} is not printable ASCII; encode it`);
    touched.add(`${table} ${key}`);
  }
  if (touched.size < changes.length) throw new TypeError("a commit touches one row twice; merge the two changes");
};

/** The bound of a scan: a whole number from 0. Throws TypeError. */
export const assertScanLimit = (limit: number): void => {
  if (!Number.isSafeInteger(limit) || limit < 0) throw new TypeError("a scan's limit is a whole number from 0");
};

/** Committed rows by table and key. Handing the same one to the next store simulates a restart. */
export type MemoryTables = Map<TableName, Map<string, StoredRow>>;

export interface MemoryByteStoreOptions {
  /** Runs the flush of a commit, now or later, once. By default at once: `done` is called before `commit` returns. */
  readonly schedule?: (flush: () => void) => void;
  /** The rows on the disk already; changed in place by commits. By default none. */
  readonly tables?: MemoryTables;
}

const copy = ({ row, seal }: StoredRow): StoredRow => ({ row: new Uint8Array(row), seal: new Uint8Array(seal) });

const copyChange = (change: Change): Change =>
  change.op === "remove" ? change : { ...change, value: copy(change.value) };

const byKey = (left: string, right: string): number => (left < right ? -1 : 1);

/** See {@link ByteStore}. Rows are copied on the way in and on the way out, as a disk would. */
export class MemoryByteStore implements ByteStore {
  readonly #schedule: (flush: () => void) => void;
  readonly #tables: MemoryTables;
  #failure: StoreFailure | undefined;
  #committing = false;

  constructor(options: MemoryByteStoreOptions = {}) {
    this.#schedule = options.schedule ?? ((flush) => flush());
    this.#tables = options.tables ?? new Map();
  }

  readonly get = (table: TableName, key: string): StoredRow | undefined => {
    if (this.#failure !== undefined) throw this.#failure;
    const stored = this.#tables.get(table)?.get(key);
    return stored && copy(stored);
  };

  readonly scan = (
    table: TableName,
    after: string,
    limit: number,
  ): ReadonlyArray<{ readonly key: string; readonly value: StoredRow }> => {
    if (this.#failure !== undefined) throw this.#failure;
    assertScanLimit(limit);
    const rows = [...(this.#tables.get(table) ?? [])].filter(([key]) => key > after);
    rows.sort(([left], [right]) => byKey(left, right));
    return rows.slice(0, limit).map(([key, value]) => ({ key, value: copy(value) }));
  };

  readonly keys = (table: TableName, from: string, limit: number): ReadonlyArray<string> => {
    if (this.#failure !== undefined) throw this.#failure;
    assertScanLimit(limit);
    const keys = [...(this.#tables.get(table) ?? new Map<string, StoredRow>()).keys()].filter((key) => key >= from);
    return keys.toSorted(byKey).slice(0, limit);
  };

  readonly commit = (changes: ReadonlyArray<Change>, done: (failure?: StoreFailure) => void): void => {
    assertChanges(changes);
    if (this.#committing) throw new TypeError("a commit is under way already; wait for it");
    this.#committing = true;
    const written = changes.map(copyChange);
    this.#schedule(() => {
      this.#failure ??= this.#refusal(written);
      if (this.#failure === undefined) for (const change of written) this.#apply(change);
      this.#committing = false;
      done(this.#failure);
    });
  };

  #refusal(changes: ReadonlyArray<Change>): StoreFailure | undefined {
    for (const { op, table, key } of changes) {
      const exists = this.#tables.get(table)?.has(key) ?? false;
      if (exists === (op === "insert")) {
        return new StoreFailure(`${op} in table ${table}: the key ${exists ? "exists" : "is missing"}`);
      }
    }
    return undefined;
  }

  #apply(change: Change): void {
    const rows = this.#tables.get(change.table) ?? new Map<string, StoredRow>();
    this.#tables.set(change.table, rows);
    if (change.op === "remove") rows.delete(change.key);
    else rows.set(change.key, change.value);
  }
}
