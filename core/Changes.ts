/** The row changes of one turn: at most one for each row, in the order in which rows were first touched. */
import type { Write } from "./Tables.ts";

/** One change in the place of two of the same row, or undefined where they undo each other. */
const merged = (earlier: Write, later: Write): Write | undefined => {
  if (earlier.op !== "insert") return later.op === "insert" ? { ...later, op: "replace" } : later;
  return later.op === "remove" ? undefined : { ...later, op: "insert" };
};

export class Changes {
  /** Undefined where a row was inserted and removed again. */
  readonly #writes: Array<Write | undefined> = [];
  /** Key to the last change under it, in whichever table: most keys are used in one table, so nothing is joined to look one up. */
  readonly #latest = new Map<string, number>();
  /** For each change the one before it with the same key, or -1. */
  readonly #before: Array<number> = [];
  #count = 0;

  /** How many rows change. */
  get count(): number {
    return this.#count;
  }

  add(write: Write): void {
    const latest = this.#latest.get(write.key) ?? -1;
    let at = latest;
    while (at >= 0 && this.#writes[at]?.table !== write.table) at = this.#before[at] ?? -1;
    const earlier = at < 0 ? undefined : this.#writes[at];
    if (earlier !== undefined) {
      const both = merged(earlier, write);
      this.#writes[at] = both;
      if (both === undefined) this.#count -= 1;
      return;
    }
    this.#latest.set(write.key, this.#writes.length);
    this.#before.push(latest);
    this.#writes.push(write);
    this.#count += 1;
  }

  toArray(): ReadonlyArray<Write> {
    return this.#count === this.#writes.length
      ? (this.#writes as ReadonlyArray<Write>)
      : this.#writes.filter((write) => write !== undefined);
  }
}
