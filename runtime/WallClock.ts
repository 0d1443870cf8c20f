/**
 * A peer's wall clock, read as it is. A wrong clock is set right again, and then nothing is left of its wrong readings
 * but what was signed with them; so no reading is kept. A jump is noticed by the monotonic clock, which also tells for
 * a while what the wall clock would show without the jump: nothing says which of the two clocks that a peer used was
 * right.
 */
import type { StepContext } from "../core/protocol/Event.ts";
import { Limits } from "../core/base/Limits.ts";

interface Ports {
  /** Unix milliseconds of this machine; may jump. */
  readonly clock: () => number;
  /** Milliseconds on a clock that only goes forward and never jumps; its zero is of no meaning. */
  readonly elapsed: () => number;
  /** Called with a jump of the wall clock, in milliseconds, before the reading that shows it is used. */
  readonly stepped?: (byMillis: number) => void;
}

/** The clocks of a step, in whole milliseconds. */
export type Reading = Pick<StepContext, "now" | "asBefore" | "elapsed">;

/** A jump by more than clocks may differ: how far the wall clock was ahead of the other one before, and until when. */
interface Jump {
  readonly ahead: number;
  readonly at: number;
}

/** Two readings may be a moment apart, and a clock that is slewed is not set. */
const LEAST_STEP_MILLIS = 1_000;

/** Of a clock that is set more often, not every jump is remembered. */
const MOST_JUMPS = 8;

const NO_JUMPS: ReadonlyArray<Jump> = [];
const NOTHING_ELSE: ReadonlyArray<number> = [];

/** One setting of the wall clock, noticed by the clock that never jumps. */
export interface ClockStep {
  /** Unix milliseconds, as it showed then. */
  readonly at: number;
  readonly byMillis: number;
}

export class WallClock {
  readonly #ports: Ports;
  /** How far it was ahead of the other clock at the last reading. */
  #ahead: number | undefined;
  #jumps = NO_JUMPS;
  #latestStep: ClockStep | undefined;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Both clocks now. Reports a jump of the wall clock since the last reading, if it was a second or more. */
  read(): Reading {
    const { clock, elapsed: steady, stepped } = this.#ports;
    const now = clock();
    const elapsed = Math.floor(steady());
    const ahead = now - elapsed;
    const before = this.#ahead ?? ahead;
    this.#ahead = ahead;
    const step = ahead - before;
    if (Math.abs(step) >= LEAST_STEP_MILLIS) {
      this.#latestStep = { at: now, byMillis: step };
      stepped?.(step);
    }
    if (this.#jumps.length > 0) this.#jumps = this.#jumps.filter(({ at }) => elapsed - at < Limits.clockDoubtMillis);
    if (Math.abs(step) > Limits.clockSkewMillis) this.#jumped({ ahead: before, at: elapsed });
    const asBefore = this.#jumps.length === 0 ? NOTHING_ELSE : this.#jumps.map((jump) => jump.ahead + elapsed);
    return { now, asBefore, elapsed };
  }

  /** When it was last seen to be set. */
  get latestStep(): ClockStep | undefined {
    return this.#latestStep;
  }

  /** Remembers a jump; of two from the same offset only the later time is kept. */
  #jumped(jump: Jump): void {
    const others = this.#jumps.filter(({ ahead }) => Math.abs(ahead - jump.ahead) > Limits.clockSkewMillis);
    if (others.length < MOST_JUMPS) this.#jumps = [...others, jump];
  }
}
