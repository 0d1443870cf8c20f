/**
 * Rows opened of late, each with the very bytes it was opened from: as long as these lie on the disk, their seal need not
 * be verified again. A row that is changed there, or whose seal is, is opened anew.
 */
import type { Rows, TableName } from "../core/Tables.ts";
import type { StoredRow } from "./ByteStore.ts";

/** Rows kept; twice as many at most. */
const KEPT = 4096;
/** Bytes of theirs as they are stored; twice as many at most. */
const KEPT_BYTES = 8 * 1024 * 1024;

interface Opened {
  readonly stored: StoredRow;
  readonly value: unknown;
}

const isEqual = (left: Uint8Array, right: Uint8Array): boolean => {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index++) if (left[index] !== right[index]) return false;
  return true;
};

export class OpenedRows {
  readonly #kept: number;
  readonly #keptBytes: number;
  #young = new Map<string, Opened>();
  #old = new Map<string, Opened>();
  #bytes = 0;

  /** `kept` and `keptBytes`: at least 1. */
  constructor(kept = KEPT, keptBytes = KEPT_BYTES) {
    this.#kept = kept;
    this.#keptBytes = keptBytes;
  }

  /** The row of a table under this key if it was opened from these very bytes: the same object each time. */
  get<T extends TableName>(table: T, key: string, { row, seal }: StoredRow): Rows[T] | undefined {
    const name = `${table}/${key}`;
    const opened = this.#young.get(name) ?? this.#old.get(name);
    if (opened === undefined || !isEqual(opened.stored.row, row) || !isEqual(opened.stored.seal, seal))
      return undefined;
    return opened.value as Rows[T];
  }

  /** Takes note of a row whose seal held. */
  set<T extends TableName>(table: T, key: string, stored: StoredRow, value: Rows[T]): void {
    const bytes = stored.row.length + stored.seal.length;
    if (this.#young.size >= this.#kept || this.#bytes + bytes > this.#keptBytes) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#bytes = 0;
    }
    this.#bytes += bytes;
    this.#young.set(`${table}/${key}`, { stored, value });
  }

  /** The row has changed: what was stored before must not lie there again. */
  delete(table: TableName, key: string): void {
    const name = `${table}/${key}`;
    this.#young.delete(name);
    this.#old.delete(name);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
    this.#bytes = 0;
  }
}
