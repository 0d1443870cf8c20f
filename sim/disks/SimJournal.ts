/** Where a simulated peer keeps what operators did while it has no key: a file that outlives processes, flushed for each act. */
import type { KeptAct, OperatorJournal } from "../../runtime/OperatorLog.ts";

interface Writing {
  readonly kept: KeptAct;
  readonly isFirst: boolean;
  readonly done: () => void;
}

export class SimJournal implements OperatorJournal {
  readonly #schedule: (run: () => void) => void;
  /** A planted bug: callers are answered before the flush. */
  readonly #isHasty: boolean;
  #acts: ReadonlyArray<KeptAct> = [];
  #writing: Array<Writing> = [];

  /** @param schedule runs something after the latency of the disk */
  constructor(schedule: (run: () => void) => void, isHasty: boolean) {
    this.#schedule = schedule;
    this.#isHasty = isHasty;
  }

  get acts(): ReadonlyArray<KeptAct> {
    return this.#acts;
  }

  append(kept: KeptAct, isFirst: boolean, done: () => void): void {
    const writing = { kept, isFirst, done: this.#isHasty ? () => undefined : done };
    this.#writing.push(writing);
    if (this.#isHasty) done();
    this.#schedule(() => this.#flushed(writing));
  }

  /** The process ends: what it was writing is there or not, and nobody hears which. */
  crash(isVisible: boolean): void {
    const [first] = this.#writing;
    this.#writing = [];
    if (first !== undefined && isVisible) this.#keep(first);
  }

  #flushed(writing: Writing): void {
    if (this.#writing[0] !== writing) return;
    this.#writing.shift();
    this.#keep(writing);
    writing.done();
  }

  #keep({ kept, isFirst }: Writing): void {
    this.#acts = isFirst ? [kept] : [...this.#acts, kept];
  }
}
