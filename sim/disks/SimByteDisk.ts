/** The simulated disk under the real codec: sealed rows as bytes, with the same crash model as the typed one. */
import type { TableName } from "../../core/Tables.ts";
import type { ByteStore, Change, StoredRow, StoreFailure } from "../../runtime/ByteStore.ts";
import { assertChanges, assertScanLimit } from "../../runtime/MemoryByteStore.ts";
import { LayeredDisk, type RowChange } from "./LayeredDisk.ts";

/** Copies of rows, all in one piece of memory: two pieces for each row would take longer than everything else here. */
class Copies {
  readonly #memory: Uint8Array;
  #at = 0;

  /** @param size how many bytes the rows have together */
  constructor(size: number) {
    this.#memory = new Uint8Array(size);
  }

  of({ row, seal }: StoredRow): StoredRow {
    return { row: this.#take(row), seal: this.#take(seal) };
  }

  #take(bytes: Uint8Array): Uint8Array {
    const start = this.#at;
    this.#memory.set(bytes, start);
    this.#at += bytes.length;
    return this.#memory.subarray(start, this.#at);
  }
}

const sizeOf = ({ row, seal }: StoredRow): number => row.length + seal.length;

const copy = (stored: StoredRow): StoredRow => new Copies(sizeOf(stored)).of(stored);

const copyChanges = (changes: ReadonlyArray<Change>): ReadonlyArray<RowChange<StoredRow>> => {
  let size = 0;
  for (const change of changes) if (change.op !== "remove") size += sizeOf(change.value);
  const copies = new Copies(size);
  return changes.map((change) =>
    change.op === "remove"
      ? change
      : { op: change.op, table: change.table, key: change.key, row: copies.of(change.value) },
  );
};

export class SimByteDisk implements ByteStore {
  /** The crash model, for the world. */
  readonly layers: LayeredDisk<StoredRow>;

  /** See {@link LayeredDisk}. */
  constructor(schedule: () => void, durable: () => void) {
    this.layers = new LayeredDisk(schedule, durable);
  }

  readonly get = (table: TableName, key: string): StoredRow | undefined => {
    const stored = this.layers.get(table, key);
    return stored && copy(stored);
  };

  readonly scan = (
    table: TableName,
    after: string,
    limit: number,
  ): ReadonlyArray<{ readonly key: string; readonly value: StoredRow }> => {
    assertScanLimit(limit);
    return this.layers.scan(table, after, limit).map(({ key, value }) => ({ key, value: copy(value) }));
  };

  readonly keys = (table: TableName, from: string, limit: number): ReadonlyArray<string> => {
    assertScanLimit(limit);
    return this.layers.keys(table, from, limit);
  };

  readonly commit = (changes: ReadonlyArray<Change>, done: (failure?: StoreFailure) => void): void => {
    assertChanges(changes);
    this.layers.commit(copyChanges(changes), done);
  };
}
