/**
 * Which transactions have a seal in a row of its own, and how many rows of each there are: none is there without its
 * seal, and where the last of them goes, so does the seal. Both are found in any order. Three bytes a transaction, in
 * memory; transactions are numbered one by one.
 */
const FIRST_COUNTS = 1024;
/** A transaction with as many rows or more is not counted down: its seal stays. */
const MOST = 0xffff;

export class SealUses {
  #counts = new Uint16Array(FIRST_COUNTS);
  #sealed = new Uint8Array(FIRST_COUNTS);

  /** Undefined where there is no seal; infinite where rows are not counted. */
  of(transaction: number): number | undefined {
    if (this.#sealed[transaction] !== 1) return undefined;
    const count = this.#counts[transaction] ?? 0;
    return count === MOST ? Number.POSITIVE_INFINITY : count;
  }

  /** Takes note of a seal. */
  start(transaction: number): void {
    this.#grow(transaction);
    this.#sealed[transaction] = 1;
  }

  /** Takes note that a seal has gone with its rows. */
  end(transaction: number): void {
    if (transaction >= this.#counts.length) return;
    this.#sealed[transaction] = 0;
    this.#counts[transaction] = 0;
  }

  /** @param rows more of them, or fewer where it is negative */
  add(transaction: number, rows: number): void {
    this.#grow(transaction);
    const before = this.#counts[transaction] ?? 0;
    if (before < MOST) this.#counts[transaction] = Math.max(0, Math.min(MOST, before + rows));
  }

  /** The first transaction that has rows and no seal, if any. */
  get unsealed(): number | undefined {
    const found = this.#counts.findIndex((count, transaction) => count > 0 && this.#sealed[transaction] !== 1);
    return found < 0 ? undefined : found;
  }

  /** The transactions that have a seal and no rows any more. */
  get unneeded(): ReadonlyArray<number> {
    const found: Array<number> = [];
    for (const [transaction, isSealed] of this.#sealed.entries())
      if (isSealed === 1 && this.#counts[transaction] === 0) found.push(transaction);
    return found;
  }

  #grow(transaction: number): void {
    if (transaction < this.#counts.length) return;
    const length = 2 ** Math.ceil(Math.log2(transaction + 1));
    const counts = new Uint16Array(length);
    counts.set(this.#counts);
    this.#counts = counts;
    const sealed = new Uint8Array(length);
    sealed.set(this.#sealed);
    this.#sealed = sealed;
  }
}
