/** Virtual time: events run in the order they are due; those due together in the order they were asked for. */
interface Entry {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

const isBefore = (left: Entry, right: Entry): boolean =>
  left.at < right.at || (left.at === right.at && left.order < right.order);

export class Scheduler {
  readonly #heap: Array<Entry> = [];
  #order = 0;
  #now = 0;

  /** Microseconds since the world began. */
  get now(): number {
    return this.#now;
  }

  get pending(): number {
    return this.#heap.length;
  }

  /** Runs something once, `micros` from now (a whole number from 0). */
  after(micros: number, run: () => void): void {
    const entry = { at: this.#now + micros, order: this.#order++, run };
    const heap = this.#heap;
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || isBefore(above, entry)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = entry;
  }

  /** Runs the next entry if it is due by `until`; false when there is none. */
  runNext(until: number): boolean {
    const next = this.#heap[0];
    if (next === undefined || next.at > until) return false;
    this.#removeTop();
    this.#now = next.at;
    next.run();
    return true;
  }

  /** Lets time pass without anything happening. */
  advanceTo(time: number): void {
    this.#now = Math.max(this.#now, time);
  }

  #removeTop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      const left = heap[child];
      if (left === undefined) break;
      const right = heap[child + 1];
      let smaller = left;
      if (right !== undefined && isBefore(right, left)) {
        smaller = right;
        child += 1;
      }
      if (!isBefore(smaller, last)) break;
      heap[at] = smaller;
      at = child;
    }
    heap[at] = last;
  }
}
