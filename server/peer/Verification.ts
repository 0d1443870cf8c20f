/**
 * The verification of every stored row after an unseal: a slice at a time, so
 * that reads of its progress, probes and seals go on in between.
 */
import type { Verified } from "../../runtime/RowSums.ts";

/** Slices after which {@link Verification.begun} is told: at most 2,560 rows, a tenth of a second. */
const BEGUN_SLICES = 40;

/** A verification in slices; its result is where rows do not hold. */
type Slices = Generator<Verified, string | undefined>;

export class Verification {
  #progress: Verified = { rows: 0, of: 0 };
  #isStopped = false;
  readonly #broken: (fault: unknown) => void;
  #tellBegun: () => void = () => undefined;
  /** Resolves once some rows of a large registry are verified, or it was stopped; a small one has ended by then. */
  readonly begun = new Promise<void>((resolve) => {
    this.#tellBegun = resolve;
  });

  /** @param broken told when the store cannot be read */
  constructor(broken: (fault: unknown) => void) {
    this.#broken = broken;
  }

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
   * Where rows do not hold, or undefined; also where it was stopped.
   *
   * @param share of the time that it may take
   */
  async run(slices: Slices, share: number): Promise<string | undefined> {
    try {
      return await this.#run(slices, share);
    } catch (fault) {
      if (!this.#isStopped) this.#broken(fault);
      this.stop();
      return undefined;
    }
  }

  async #run(slices: Slices, share: number): Promise<string | undefined> {
    for (let count = 0; !this.#isStopped; count += 1) {
      const startedAt = performance.now();
      const slice = slices.next();
      if (slice.done === true) return slice.value;
      this.#progress = slice.value;
      if (count === BEGUN_SLICES) this.#tellBegun();
      const pause = (performance.now() - startedAt) * (1 / share - 1);
      await new Promise((resolve) => void (pause > 0 ? setTimeout(resolve, pause) : setImmediate(resolve)));
    }
    return undefined;
  }
}
