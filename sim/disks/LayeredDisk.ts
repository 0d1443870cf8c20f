/**
 * A disk that knows what is durable. A commit becomes durable when its flush
 * ends. A process crash in between may leave the bytes visible to the next open
 * but still volatile; a power loss takes everything volatile away; every open
 * first makes what it recovers durable (protocol.md 1, "Durability").
 */
import type { TableName } from "../../core/Tables.ts";
import { StoreFailure } from "../../runtime/ByteStore.ts";

/** A change as the layers see it: a typed write is one, so that bulk runs make nothing anew. */
export type RowChange<V> =
  | { readonly op: "insert" | "replace"; readonly table: TableName; readonly key: string; readonly row: V }
  | { readonly op: "remove"; readonly table: TableName; readonly key: string };

interface Pending<V> {
  readonly changes: ReadonlyArray<RowChange<V>>;
  readonly done: (failure?: StoreFailure) => void;
}

interface Undo<V> {
  readonly table: TableName;
  readonly key: string;
  readonly before: V | undefined;
}

/** How the flush of the commit under way ends. */
export type FlushEnd = "durable" | "durable, unreported" | "failed, lost" | "failed, durable" | "reported, volatile";

interface Stored<V> {
  readonly key: string;
  readonly value: V;
}

const byKey = ({ key: left }: Stored<unknown>, { key: right }: Stored<unknown>): number => (left < right ? -1 : 1);

/** How to take back the first of these changes, by what was there before each; seldom needed, so made only then. */
const undoOf = <V>(changes: ReadonlyArray<RowChange<V>>, befores: ReadonlyArray<V | undefined>) =>
  changes.slice(0, befores.length).map(({ table, key }, index): Undo<V> => ({ table, key, before: befores[index] }));

const misfit = (op: RowChange<never>["op"], table: TableName, exists: boolean): StoreFailure =>
  new StoreFailure(`${op} in table ${table}: the key ${exists ? "exists" : "is missing"}`);

export class LayeredDisk<V> {
  readonly #tables = new Map<TableName, Map<string, V>>();
  readonly #schedule: () => void;
  readonly #durable: () => void;
  #undo: Array<Undo<V>> = [];
  /** What a torn transaction changed. */
  #torn: Array<Undo<V>> = [];
  #pending: Pending<V> | undefined;
  #failure: StoreFailure | undefined;

  /**
   * @param schedule asks the world to call {@link endFlush} after the flush's latency
   * @param durable is told when the content of the commit under way has become durable
   */
  constructor(schedule: () => void, durable: () => void) {
    this.#schedule = schedule;
    this.#durable = durable;
  }

  get flushing(): boolean {
    return this.#pending !== undefined;
  }

  get(table: TableName, key: string): V | undefined {
    if (this.#failure !== undefined) throw this.#failure;
    return this.#tables.get(table)?.get(key);
  }

  scan(table: TableName, after: string, limit: number): ReadonlyArray<Stored<V>> {
    if (this.#failure !== undefined) throw this.#failure;
    const found: Array<Stored<V>> = [];
    for (const [key, value] of this.#tables.get(table) ?? []) if (key > after) found.push({ key, value });
    found.sort(byKey);
    return found.length > limit ? found.slice(0, limit) : found;
  }

  keys(table: TableName, from: string, limit: number): ReadonlyArray<string> {
    if (this.#failure !== undefined) throw this.#failure;
    if (limit === 0) return [];
    const found: Array<string> = [];
    for (const key of this.#tables.get(table)?.keys() ?? []) {
      const last = found.length < limit ? undefined : found.at(-1);
      if (key < from || (last !== undefined && key > last)) continue;
      // Sorted as they come: of many keys only few are among the first.
      if (last !== undefined) found.pop();
      const at = found.findLastIndex((each) => each < key) + 1;
      found.splice(at, 0, key);
    }
    return found;
  }

  commit(changes: ReadonlyArray<RowChange<V>>, done: (failure?: StoreFailure) => void): void {
    if (this.#pending !== undefined) throw new TypeError("a commit is under way already; wait for it");
    this.#pending = { changes, done };
    this.#schedule();
  }

  /** The flush of the commit under way ends. */
  endFlush(how: FlushEnd): void {
    const pending = this.#pending;
    if (pending === undefined) return;
    this.#pending = undefined;
    const isVolatile = how === "reported, volatile";
    if (how === "failed, lost") this.#failure ??= this.#refusal(pending.changes);
    else if (this.#failure === undefined) {
      this.#failure = this.#apply(pending.changes, isVolatile);
      if (this.#failure === undefined && !isVolatile) this.#durable();
    }
    if (how === "durable, unreported") return;
    if (how.startsWith("failed")) this.#failure ??= new StoreFailure("the flush failed");
    pending.done(this.#failure);
  }

  /** The process is gone; what it was committing is visible to the next open, or not. */
  crash(visible: boolean): void {
    const pending = this.#pending;
    this.#pending = undefined;
    this.#failure = undefined;
    if (pending !== undefined && visible) this.#apply(pending.changes, true);
  }

  /** Everything volatile vanishes. */
  losePower(): void {
    this.crash(false);
    this.#takeBack(this.#undo);
    this.#undo = [];
  }

  /** Keeps a share (in thousandths) of the changes under way, as a disk without atomic writes would; false where there are not two. */
  tear(share: number): boolean {
    const changes = this.#pending?.changes ?? [];
    this.losePower();
    if (changes.length < 2) return false;
    const kept = changes.slice(0, Math.max(1, Math.floor((changes.length * share) / 1000)));
    const refused = this.#apply(kept, true);
    this.#torn = this.#undo;
    this.#undo = [];
    return refused === undefined;
  }

  /** Whether part of a transaction is there. */
  get isTorn(): boolean {
    return this.#torn.length > 0;
  }

  /** Takes a torn transaction back. */
  mend(): void {
    this.#takeBack(this.#torn);
    this.#torn = [];
  }

  /** Whether the next open has something to make durable first. */
  get isVolatile(): boolean {
    return this.#undo.length > 0;
  }

  /** What an open does before anything else. */
  makeDurable(): void {
    if (!this.isVolatile) return;
    this.#undo = [];
    this.#durable();
  }

  /** All rows, as they are now. */
  get content(): ReadonlyMap<TableName, ReadonlyMap<string, V>> {
    return new Map([...this.#tables].map(([table, rows]) => [table, new Map(rows)] as const));
  }

  /** Changes a row without the peer's knowledge. */
  overwrite(table: TableName, key: string, value: V | undefined): void {
    if (value === undefined) this.#rows(table).delete(key);
    else this.#rows(table).set(key, value);
  }

  /** Keeps the content as it is now; what it returns brings that back, durable, and nothing else. */
  photograph(): () => void {
    const kept = [...this.#tables].map(([table, rows]) => [table, new Map(rows)] as const);
    return () => {
      this.wipe();
      for (const [table, rows] of kept) this.#tables.set(table, new Map(rows));
    };
  }

  /** Takes everything away. */
  wipe(): void {
    this.losePower();
    this.#torn = [];
    this.#tables.clear();
  }

  #rows(table: TableName): Map<string, V> {
    const known = this.#tables.get(table);
    if (known !== undefined) return known;
    const rows = new Map<string, V>();
    this.#tables.set(table, rows);
    return rows;
  }

  #takeBack(undo: ReadonlyArray<Undo<V>>): void {
    for (const { table, key, before } of undo.toReversed()) {
      const rows = this.#rows(table);
      if (before === undefined) rows.delete(key);
      else rows.set(key, before);
    }
  }

  /** Why these changes do not fit what is there; makes none of them. */
  #refusal(changes: ReadonlyArray<RowChange<V>>): StoreFailure | undefined {
    for (const { op, table, key } of changes) {
      const exists = this.#tables.get(table)?.has(key) ?? false;
      if (exists === (op === "insert")) return misfit(op, table, exists);
    }
    return undefined;
  }

  /** Makes all of the changes, or none and says why. */
  #apply(changes: ReadonlyArray<RowChange<V>>, isVolatile: boolean): StoreFailure | undefined {
    const befores: Array<V | undefined> = [];
    for (const change of changes) {
      const { op, table, key } = change;
      const rows = this.#rows(table);
      const before = rows.get(key);
      if ((before !== undefined) === (op === "insert")) {
        this.#takeBack(undoOf(changes, befores));
        return misfit(op, table, op === "insert");
      }
      befores.push(before);
      if (change.op === "remove") rows.delete(key);
      else rows.set(key, change.row);
    }
    if (isVolatile) this.#undo.push(...undoOf(changes, befores));
    return undefined;
  }
}
