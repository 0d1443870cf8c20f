/**
 * The verification of stored rows: before the keys come into use of what the peer rests on then, a slice at a time, so
 * that reads of its progress, probes and seals go on in between; of all others afterwards, with pauses.
 */
import type { Verified } from "../../runtime/RowSum.ts";
import type { SealedStore } from "../../runtime/SealedStore.ts";

/** The pause after a slice of the rest, in its duration, and at least: others have the greater part of the processor. */
const PAUSE_SHARE = 2;
const PAUSE_MILLIS = 2;
/** Rows after which {@link Verification.begun} is told: some ten milliseconds of work. */
const BEGUN_ROWS = 1_000;

export interface VerificationPorts {
  readonly store: SealedStore;
  /** A clock that never goes back, in milliseconds. */
  readonly elapsedMillis: () => number;
  /** The store cannot be read: the peer must not go on. */
  readonly broken: (fault: unknown) => void;
}

export class Verification {
  readonly #ports: VerificationPorts;
  #progress: Verified = { rows: 0, of: 0 };
  #isStopped = false;
  #tellBegun: () => void = () => undefined;
  /** Resolves once some rows of a large registry are verified, or it was stopped; a small one has ended by then. */
  readonly begun = new Promise<void>((resolve) => {
    this.#tellBegun = resolve;
  });

  constructor(ports: VerificationPorts) {
    this.#ports = ports;
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

  /** Where what a peer rests on does not hold, or undefined; also where it was stopped, or is because of a fault. */
  run(): Promise<string | undefined> {
    return this.#through(this.#ports.store.verifyPages(), (progress) => {
      this.#progress = progress;
      if (progress.rows > BEGUN_ROWS) this.#tellBegun();
      return new Promise((resolve) => void setImmediate(resolve));
    });
  }

  /** Proves what nobody has read since the unseal; returns what {@link run} does. */
  runRest(): Promise<string | undefined> {
    const { elapsedMillis, store } = this.#ports;
    let since = elapsedMillis();
    return this.#through(store.verifyRest(), async () => {
      const took = elapsedMillis() - since;
      await new Promise((resolve) => void setTimeout(resolve, Math.max(PAUSE_MILLIS, took * PAUSE_SHARE)));
      since = elapsedMillis();
    });
  }

  async #through(
    slices: ReturnType<SealedStore["verifyPages"]>,
    pause: (progress: Verified) => Promise<void>,
  ): Promise<string | undefined> {
    try {
      while (!this.#isStopped) {
        const slice = slices.next();
        if (slice.done === true) return slice.value;
        await pause(slice.value);
      }
    } catch (fault) {
      if (!this.#isStopped) this.#ports.broken(fault);
      this.stop();
    }
    return undefined;
  }
}
