/** The row changes of one step: at most one for each row, in the order in which rows were first touched. */
import { InvariantViolation } from "../base/Invariant.ts";
import type { TableName, Write } from "./Tables.ts";

/**
 * Merges two changes of the same row; undefined where they cancel out. Throws for a row that is inserted although it is
 * there, or replaced although it is gone: one of the two handlers is wrong about the registry.
 */
const merged = (earlier: Write, later: Write): Write | undefined => {
  if (later.op !== "remove" && (earlier.op === "remove") !== (later.op === "insert"))
    throw new InvariantViolation(
      "S13",
      `one step has ${later.op} after ${earlier.op} of the row ${later.table}/${later.key}`,
    );
  if (earlier.op === "remove") return later.op === "remove" ? later : ({ ...later, op: "replace" } as Write);
  if (earlier.op === "replace") return later;
  return later.op === "remove" ? undefined : ({ ...later, op: "insert" } as Write);
};

/** Up to this many changes, a linear search is faster than building a map. */
const FEW = 24;

export class Changes {
  /** Undefined where a row was inserted and removed again. */
  readonly #writes: Array<Write | undefined> = [];
  /** Beyond a few changes: the last under each key, in any table, and for each the one before it or -1. */
  #latest: Map<string, number> | undefined;
  readonly #before: Array<number> = [];
  #count = 0;

  /** How many rows change. */
  get count(): number {
    return this.#count;
  }

  add(write: Write): void {
    const at = this.#placeOf(write);
    const earlier = at < 0 ? undefined : this.#writes[at];
    if (earlier !== undefined) {
      const both = merged(earlier, write);
      this.#writes[at] = both;
      if (both === undefined) this.#count -= 1;
      return;
    }
    if (this.#latest !== undefined) this.#index(this.#latest, write.key, this.#writes.length);
    this.#writes.push(write);
    this.#count += 1;
    if (this.#writes.length > FEW && this.#latest === undefined) this.#indexAll();
  }

  /** The change of a row; undefined where there is none. */
  of(table: TableName, key: string): Write | undefined {
    return this.#writes[this.#placeOf({ table, key })];
  }

  /** Whether the row is there after these changes; undefined where they do not touch it. */
  leaves(table: TableName, key: string): boolean | undefined {
    const last = this.of(table, key);
    return last && last.op !== "remove";
  }

  /** Index of the last change of the same row, or -1. */
  #placeOf({ table, key }: Pick<Write, "table" | "key">): number {
    let at = this.#latest === undefined ? this.#writes.length - 1 : (this.#latest.get(key) ?? -1);
    while (at >= 0) {
      const other = this.#writes[at];
      if (other !== undefined && other.table === table && other.key === key) return at;
      at = this.#latest === undefined ? at - 1 : (this.#before[at] ?? -1);
    }
    return -1;
  }

  #index(latest: Map<string, number>, key: string, at: number): void {
    this.#before[at] = latest.get(key) ?? -1;
    latest.set(key, at);
  }

  #indexAll(): void {
    const latest = new Map<string, number>();
    this.#latest = latest;
    this.#writes.forEach((write, at) => {
      if (write !== undefined) this.#index(latest, write.key, at);
    });
  }

  toArray(): ReadonlyArray<Write> {
    return this.#count === this.#writes.length
      ? (this.#writes as ReadonlyArray<Write>)
      : this.#writes.filter((write) => write !== undefined);
  }
}
