/** The simulated disk under the real codec: sealed rows as bytes, with the same crash model as the typed one. */
import type { TableName } from "../core/Tables.ts";
import type { ByteStore, Change, StoredRow, StoreFailure } from "../runtime/ByteStore.ts";
import { assertChanges, assertScanLimit } from "../runtime/MemoryByteStore.ts";
import { LayeredDisk, type RowChange } from "./LayeredDisk.ts";

const copy = ({ row, seal }: StoredRow): StoredRow => ({ row: new Uint8Array(row), seal: new Uint8Array(seal) });

const changeOf = (change: Change): RowChange<StoredRow> =>
  change.op === "remove" ? change : { op: change.op, table: change.table, key: change.key, row: copy(change.value) };

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

  readonly commit = (changes: ReadonlyArray<Change>, done: (failure?: StoreFailure) => void): void => {
    assertChanges(changes);
    this.layers.commit(changes.map(changeOf), done);
  };
}
