/**
 * Which transactions have a seal in a row of its own, and how many rows of each there are: none is there without its
 * seal, and where the last of them goes, so does the seal. Two bytes a transaction, in memory; transactions are numbered
 * one by one.
 */
const FIRST_COUNTS = 1024;
/** A transaction with nearly as many rows or more is not counted down: its seal stays. */
const MOST = 0xffff;

export class SealUses {
  /** One more than there are rows; 0 where there is no seal. */
  #counts = new Uint16Array(FIRST_COUNTS);

  /** Undefined where there is no seal; infinite where rows are not counted. */
  of(transaction: number): number | undefined {
    const count = this.#counts[transaction] ?? 0;
    return count === 0 ? undefined : count === MOST ? Number.POSITIVE_INFINITY : count - 1;
  }

  /** Takes note of a seal, so far without rows. */
  start(transaction: number): void {
    if (transaction >= this.#counts.length) {
      const larger = new Uint16Array(2 ** Math.ceil(Math.log2(transaction + 1)));
      larger.set(this.#counts);
      this.#counts = larger;
    }
    this.#counts[transaction] = 1;
  }

  end(transaction: number): void {
    if (transaction < this.#counts.length) this.#counts[transaction] = 0;
  }

  /**
   * @param rows more of them, or fewer where it is negative
   * @returns whether they have a seal
   */
  add(transaction: number, rows: number): boolean {
    const before = this.#counts[transaction] ?? 0;
    if (before === 0) return false;
    if (before < MOST) this.#counts[transaction] = Math.max(1, Math.min(MOST, before + rows));
    return true;
  }
}
