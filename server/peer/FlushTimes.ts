/** How long the latest flushes took. */

/** Enough for a median that follows the disk within seconds under load. */
const KEPT = 255;

export interface FlushSummary {
  /** Of this process. */
  readonly count: number;
  /** In milliseconds, from handing over a transaction to its flush. */
  readonly lastMillis: number;
  /** Of the latest 255. */
  readonly medianMillis: number;
}

const rounded = (millis: number): number => Math.round(millis * 100) / 100;

export class FlushTimes {
  readonly #latest: Array<number> = [];
  #count = 0;

  /** @param millis how long one flush took */
  add(millis: number): void {
    this.#latest[this.#count % KEPT] = millis;
    this.#count += 1;
  }

  /** Null before the first flush. */
  get summary(): FlushSummary | null {
    const last = this.#latest[(this.#count - 1) % KEPT];
    const median = this.#latest.toSorted((left, right) => left - right)[Math.floor(this.#latest.length / 2)];
    if (last === undefined || median === undefined) return null;
    return { count: this.#count, lastMillis: rounded(last), medianMillis: rounded(median) };
  }
}
