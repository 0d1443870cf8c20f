/**
 * How many rows there are of each transaction whose seal is a row of its own: where the last of them goes, so does the
 * seal. Two bytes a transaction, in memory; transactions are numbered one by one.
 */
const FIRST_COUNTS = 1024;
/** A transaction with as many rows or more is not counted down: its seal stays. */
const MOST = 0xffff;

export class SealUses {
  #counts = new Uint16Array(FIRST_COUNTS);

  of(transaction: number): number {
    return this.#counts[transaction] ?? 0;
  }

  /** @param rows more of them, or fewer where it is negative */
  add(transaction: number, rows: number): void {
    if (transaction >= this.#counts.length) {
      const larger = new Uint16Array(2 ** Math.ceil(Math.log2(transaction + 1)));
      larger.set(this.#counts);
      this.#counts = larger;
    }
    const before = this.of(transaction);
    if (before < MOST) this.#counts[transaction] = Math.max(0, Math.min(MOST, before + rows));
  }
}
