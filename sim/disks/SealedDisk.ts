/** The disk of runs that are not bulk: rows encoded and sealed by the runtime's own layer over simulated bytes. */
import type { Crypto } from "../../core/crypto/Crypto.ts";
import type { Schema } from "../../core/protocol/Composition.ts";
import { type Rows, type RowView, type TableName, tables, type Write } from "../../core/Tables.ts";
import type { ByteStore, StoredRow, StoreFailure } from "../../runtime/ByteStore.ts";
import type { IntegrityKey } from "../../runtime/RowSeal.ts";
import { SealedStore } from "../../runtime/SealedStore.ts";
import type { FlushEnd } from "./LayeredDisk.ts";
import type { PeerDisk } from "./PeerDisk.ts";
import { SimByteDisk } from "./SimByteDisk.ts";

/** A row before something happened to it. */
interface Original {
  readonly table: TableName;
  readonly key: string;
  readonly value: StoredRow;
  /** The row that is there since; undefined where it was taken away. */
  readonly instead: StoredRow | undefined;
}

export class SealedDisk implements PeerDisk {
  readonly #bytes: SimByteDisk;
  readonly #crypto: Crypto;
  readonly #integrity: () => IntegrityKey | undefined;
  readonly #schema: () => Schema;
  readonly #through: (bytes: ByteStore) => ByteStore;
  readonly #originals = new Map<string, Original>();
  #store: SealedStore;

  /**
   * @param integrity the integrity key of the peer this disk belongs to, once it has one
   * @param through what is between the sealing layer and the bytes: nothing, unless a bug is planted there
   */
  constructor(
    crypto: Crypto,
    integrity: () => IntegrityKey | undefined,
    schedule: () => void,
    durable: () => void,
    through: (bytes: ByteStore) => ByteStore = (bytes) => bytes,
    schema: () => Schema = () => tables,
  ) {
    this.#crypto = crypto;
    this.#integrity = integrity;
    this.#bytes = new SimByteDisk(schedule, durable);
    this.#through = through;
    this.#schema = schema;
    this.#store = new SealedStore(through(this.#bytes), crypto, schema());
  }

  get atStart(): RowView {
    return this.#store.atStart;
  }

  readonly get = <T extends TableName>(table: T, key: string): Rows[T] | undefined => this.#store.get(table, key);

  readonly scan = <T extends TableName>(
    table: T,
    after: string,
    limit: number,
  ): ReadonlyArray<{ readonly key: string; readonly row: Rows[T] }> => this.#store.scan(table, after, limit);

  readonly keys = (table: TableName, from: string, limit: number): ReadonlyArray<string> =>
    this.#store.keys(table, from, limit);

  readonly commit = (writes: ReadonlyArray<Write>, done: (failure?: StoreFailure) => void): void =>
    this.#store.commit(writes, done);

  get flushing(): boolean {
    return this.#bytes.layers.flushing;
  }

  get isVolatile(): boolean {
    return this.#bytes.layers.isVolatile;
  }

  endFlush(how: FlushEnd): void {
    this.#bytes.layers.endFlush(how);
  }

  crash(visible: boolean): void {
    this.#bytes.layers.crash(visible);
  }

  losePower(): void {
    this.#bytes.layers.losePower();
  }

  /** A new process knows nothing of the last one's caches. */
  open(): void {
    this.#bytes.layers.makeDurable();
    this.#store = new SealedStore(this.#through(this.#bytes), this.#crypto, this.#schema());
  }

  useKey(present: boolean): void {
    this.#store.useKey(present ? this.#integrity() : undefined);
  }

  addKey(integrity: IntegrityKey): void {
    this.#store.addKey(integrity);
  }

  verify(): string | undefined {
    return this.#store.verifyAll();
  }

  get harm(): string | undefined {
    for (const { table, key, instead } of this.#originals.values())
      if (this.#bytes.layers.get(table, key) === instead) return `${table}/${key}`;
    return this.#bytes.layers.isTorn ? "a transaction that lies there in part" : undefined;
  }

  readonly holds = (table: TableName, key: string): boolean => this.#bytes.layers.get(table, key) !== undefined;

  damage(table: TableName, key: string, at: number): void {
    const value = this.#bytes.layers.get(table, key);
    if (value === undefined) return;
    const instead = { row: new Uint8Array(value.row), seal: new Uint8Array(value.seal) };
    const place = at % (instead.row.length + instead.seal.length);
    const [bytes, index] =
      place < instead.row.length ? [instead.row, place] : [instead.seal, place - instead.row.length];
    bytes[index] = (bytes[index] ?? 0) ^ 1;
    this.#put({ table, key, value, instead });
  }

  tear(share: number): boolean {
    return this.#bytes.layers.tear(share);
  }

  remove(table: TableName, key: string): void {
    const value = this.#bytes.layers.get(table, key);
    if (value !== undefined) this.#put({ table, key, value, instead: undefined });
  }

  repair(): void {
    // A row that the peer, unaware, has written or removed since is its own again.
    for (const { table, key, value, instead } of this.#originals.values())
      if (this.#bytes.layers.get(table, key) === instead) this.#bytes.layers.overwrite(table, key, value);
    this.#originals.clear();
    this.#bytes.layers.mend();
  }

  wipe(): void {
    this.#originals.clear();
    this.#bytes.layers.wipe();
  }

  photograph(): () => void {
    const restore = this.#bytes.layers.photograph();
    return () => {
      this.#originals.clear();
      restore();
    };
  }

  #put(original: Original): void {
    const { table, key, instead } = original;
    const name = `${table}/${key}`;
    if (this.#originals.has(name)) return;
    this.#originals.set(name, original);
    this.#bytes.layers.overwrite(table, key, instead);
  }
}
