/**
 * A peer's wall clock, read as it is. Whoever set it wrong sets it right again, and from then on nothing is left of the
 * wrong reading but what was signed with it; so no reading is kept. A step is noticed by the clock that never makes one,
 * which also tells for a while what the wall clock would show without it: of two clocks that a peer went by, nothing
 * says which one was right.
 */
import type { StepContext } from "../core/protocol/Event.ts";
import { Limits } from "../core/base/Limits.ts";

interface Ports {
  /** Unix milliseconds of this machine; may jump. */
  readonly clock: () => number;
  /** Milliseconds on a clock that only goes forward and never jumps; its zero is of no meaning. */
  readonly elapsed: () => number;
  /** Told, before the reading that sees it first is used, that the wall clock was set, by so many milliseconds. */
  readonly stepped?: (byMillis: number) => void;
}

/** What a step may look at, in whole milliseconds. */
export type Reading = Pick<StepContext, "now" | "asBefore" | "elapsed">;

/** A step by more than clocks may differ: how far the wall clock was ahead of the other one before, and until when. */
interface Jump {
  readonly ahead: number;
  readonly at: number;
}

/** Two readings may lie a moment apart, and a clock that is slewed is not set. */
const LEAST_STEP_MILLIS = 1_000;

/** A clock that is set more often is not followed through all of it. */
const MOST_JUMPS = 8;

const NO_JUMPS: ReadonlyArray<Jump> = [];
const NOTHING_ELSE: ReadonlyArray<number> = [];

/** A wall clock that somebody set, seen by the clock that never makes a step. */
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

  /** Both clocks now. Tells of a step of the wall clock since the last reading, if it was a second or more. */
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

  /** What was left lately; the same twice is left once, the later time. */
  #jumped(jump: Jump): void {
    const others = this.#jumps.filter(({ ahead }) => Math.abs(ahead - jump.ahead) > Limits.clockSkewMillis);
    if (others.length < MOST_JUMPS) this.#jumps = [...others, jump];
  }
}
