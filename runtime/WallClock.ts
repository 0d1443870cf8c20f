/**
 * A peer's wall clock, read as it is. Whoever set it wrong sets it right again, and from then on nothing is left of the
 * wrong reading but what was signed with it; so no reading is kept. A step is noticed by the clock that never makes one.
 */

interface Ports {
  /** Unix milliseconds of this machine; may jump. */
  readonly clock: () => number;
  /** Milliseconds on a clock that only goes forward and never jumps. */
  readonly elapsed: () => number;
  readonly clockStepped?: ((byMillis: number) => void) | undefined;
}

/** What a step may look at, in whole milliseconds. */
interface Reading {
  readonly now: number;
  readonly elapsed: number;
}

/** Two readings may lie a moment apart, and a clock that is slewed is not set. */
const LEAST_STEP_MILLIS = 1_000;

export class WallClock {
  readonly #ports: Ports;
  #last: Reading | undefined;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Both clocks now. Tells of a step of the wall clock since the last reading, if it was a second or more. */
  read(): Reading {
    const { clock, elapsed, clockStepped } = this.#ports;
    const reading = { now: clock(), elapsed: Math.floor(elapsed()) };
    const last = this.#last;
    this.#last = reading;
    const step = last === undefined ? 0 : reading.now - last.now - (reading.elapsed - last.elapsed);
    if (Math.abs(step) >= LEAST_STEP_MILLIS) clockStepped?.(step);
    return reading;
  }
}
