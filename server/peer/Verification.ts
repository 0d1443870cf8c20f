/**
 * The verification of stored rows: before the keys come into use of what the peer rests on then, a slice at a time, so
 * that reads of its progress, probes and seals go on in between; of all others afterwards, with pauses.
 */
import type { Verified } from "../../runtime/RowSum.ts";
import type { SealedStore } from "../../runtime/SealedStore.ts";

/** After each range of the rest, some millisecond of work: others have the greater part of the processor. */
const PAUSE_MILLIS = 2;
/** Rows after which {@link Verification.begun} is told: some ten milliseconds of work. */
const BEGUN_ROWS = 1_000;

export class Verification {
  #progress: Verified = { rows: 0, of: 0 };
  #isStopped = false;
  #tellBegun: () => void = () => undefined;
  /** Resolves once some rows of a large registry are verified, or it was stopped; a small one has ended by then. */
  readonly begun = new Promise<void>((resolve) => {
    this.#tellBegun = resolve;
  });

  get progress(): Verified {
    return this.#progress;
  }

  /** Its result is of no use any more: the keys are out of use again, or the process ends. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  stop(): void {
    this.#isStopped = true;
    this.#tellBegun();
  }

  /**
   * Proves what nobody has read since the unseal. Resolves with where rows do not hold, or undefined; also where it was
   * stopped. Rejects when the store cannot be read.
   */
  async runRest(store: SealedStore): Promise<string | undefined> {
    const slices = store.verifyRest();
    while (!this.#isStopped) {
      const slice = slices.next();
      if (slice.done === true) return slice.value;
      await new Promise((resolve) => void setTimeout(resolve, PAUSE_MILLIS));
    }
    return undefined;
  }

  /** Where rows do not hold, or undefined; also where it was stopped. Rejects when the store cannot be read. */
  async run(store: SealedStore): Promise<string | undefined> {
    const slices = store.verifyPages();
    while (!this.#isStopped) {
      const slice = slices.next();
      if (slice.done === true) return slice.value;
      this.#progress = slice.value;
      if (slice.value.rows > BEGUN_ROWS) this.#tellBegun();
      await new Promise((resolve) => void setImmediate(resolve));
    }
    return undefined;
  }
}
