/**
 * The disk of bulk runs: typed rows as they are, no encoding and no seal. A
 * damaged row throws on reading as a broken seal would; a deleted one is missed
 * at the next unseal, as the signed head would miss it.
 */
import type { Rows, RowView, TableName, Write } from "../../core/Tables.ts";
import type { StoreFailure } from "../../runtime/ByteStore.ts";
import { IntegrityFailure } from "../../runtime/PeerStore.ts";
import { type FlushEnd, LayeredDisk } from "./LayeredDisk.ts";
import type { PeerDisk } from "./PeerDisk.ts";

type AnyRow = Rows[TableName];

export class SimDisk implements PeerDisk {
  readonly #rows: LayeredDisk<AnyRow>;
  readonly #damaged = new Set<string>();
  readonly #deleted = new Map<string, { readonly table: TableName; readonly key: string; readonly row: AnyRow }>();
  #hasKey = false;
  /** Whether all rows were verified since the key is in use: from then on a read notices that a row is gone. */
  #isVerified = false;
  /** What was done to its rows when it was unsealed: all of them are looked at then. */
  #believed: string | undefined;
  /** The rows that a process read for its state, until they are verified or a transaction is written. */
  #readAtStart: Map<string, AnyRow | undefined> | undefined;
  readonly atStart: RowView = {
    get: (table, key) => {
      const row = this.get(table, key);
      this.#readAtStart?.set(`${table}/${key}`, row);
      return row;
    },
    scan: (table, after, limit) => {
      const page = this.scan(table, after, limit);
      for (const { key, row } of page) this.#readAtStart?.set(`${table}/${key}`, row);
      return page;
    },
  };

  constructor(schedule: () => void, durable: () => void) {
    this.#rows = new LayeredDisk(schedule, durable);
  }

  readonly get = <T extends TableName>(table: T, key: string): Rows[T] | undefined => {
    this.#assertWhole(table, key);
    // The rows of a table were written there with the table's own row type.
    const row = this.#rows.get(table, key) as Rows[T] | undefined;
    if (row === undefined && this.#isVerified && this.#deleted.has(`${table}/${key}`))
      throw new IntegrityFailure(`${table}/${key}`, "the row is missing");
    return row;
  };

  readonly scan = <T extends TableName>(
    table: T,
    after: string,
    limit: number,
  ): ReadonlyArray<{ readonly key: string; readonly row: Rows[T] }> =>
    this.#rows.scan(table, after, limit).map(({ key, value }) => {
      this.#assertWhole(table, key);
      return { key, row: value as Rows[T] };
    });

  readonly keys = (table: TableName, from: string, limit: number): ReadonlyArray<string> =>
    this.#rows.keys(table, from, limit);

  readonly commit = (writes: ReadonlyArray<Write>, done: (failure?: StoreFailure) => void): void => {
    if (!this.#hasKey) throw new IntegrityFailure("store", "a write was asked for without the integrity key");
    for (const { op, table, key } of writes) if (op !== "insert") this.#assertWhole(table, key);
    this.#readAtStart = undefined;
    this.#rows.commit(writes, done);
  };

  get flushing(): boolean {
    return this.#rows.flushing;
  }

  get isVolatile(): boolean {
    return this.#rows.isVolatile;
  }

  endFlush(how: FlushEnd): void {
    this.#rows.endFlush(how);
  }

  crash(visible: boolean): void {
    this.#rows.crash(visible);
  }

  losePower(): void {
    this.#rows.losePower();
  }

  open(): void {
    this.#believed = undefined;
    this.#readAtStart = new Map();
    this.#rows.makeDurable();
  }

  useKey(present: boolean): void {
    this.#hasKey = present;
    this.#isVerified = false;
  }

  addKey(): void {
    // Rows have no seals here.
  }

  verify(): string | undefined {
    this.#believed = this.harm;
    const harm = this.#believed ?? this.#exchanged();
    this.#isVerified = harm === undefined;
    if (this.#isVerified) this.#readAtStart = undefined;
    return harm;
  }

  get watched(): RowView {
    return this;
  }

  get believed(): string | undefined {
    return this.#believed;
  }

  /** Altered rows throw. */
  readonly alteredRow = undefined;
  readonly hasSeals = false;
  readonly isHarmedBefore = false;

  readonly verifiesLater = false;
  /** All rows are verified at the unseal. */
  readonly isWhole = true;

  verifyMore(): "whole" {
    return "whole";
  }

  /** A row that is another one than at the start. A disk that is put back has the very rows it had. */
  #exchanged(): string | undefined {
    for (const [where, row] of this.#readAtStart ?? []) {
      const [table = "", ...key] = where.split("/");
      if (this.#rows.get(table as TableName, key.join("/")) !== row) return `${where} is not what it was at the start`;
    }
    return undefined;
  }

  get harm(): string | undefined {
    for (const where of this.#damaged) return where;
    for (const where of this.#deleted.keys()) return `${where} is missing`;
    // The head counts transactions and rows, so it does not fit a part of one.
    return this.#rows.isTorn ? "head/self" : undefined;
  }

  readonly holds = (table: TableName, key: string): boolean => this.#rows.get(table, key) !== undefined;

  damage(table: TableName, key: string): void {
    this.#damaged.add(`${table}/${key}`);
  }

  tear(share: number): boolean {
    return this.#rows.tear(share);
  }

  remove(table: TableName, key: string): void {
    const row = this.#rows.get(table, key);
    if (row === undefined) return;
    this.#deleted.set(`${table}/${key}`, { table, key, row });
    this.#rows.overwrite(table, key, undefined);
  }

  /** A row has no seal here that would tell its age. */
  putOlder(): boolean {
    return false;
  }

  putOlderRange(): boolean {
    return false;
  }

  repair(): void {
    this.#damaged.clear();
    this.#rows.mend();
    for (const { table, key, row } of this.#deleted.values()) this.#rows.overwrite(table, key, row);
    this.#deleted.clear();
  }

  wipe(): void {
    this.#damaged.clear();
    this.#deleted.clear();
    this.#rows.wipe();
  }

  photograph(): () => void {
    const restore = this.#rows.photograph();
    return () => {
      this.#damaged.clear();
      this.#deleted.clear();
      restore();
    };
  }

  #assertWhole(table: TableName, key: string): void {
    if (this.#damaged.size > 0 && this.#damaged.has(`${table}/${key}`))
      throw new IntegrityFailure(`${table}/${key}`, "the seal does not hold");
  }
}
