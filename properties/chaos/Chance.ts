/** Draws a run's own choices: what is done to the peers, and what callers do. */
import { entropyOf, type Prng } from "../../sim/base/Prng.ts";

export class Chance {
  readonly #random: Prng;

  /**
   * @param seed the run's
   * @param user the number of a stream of draws: each has its own
   */
  constructor(seed: number, user: number) {
    this.#random = entropyOf(seed, user);
  }

  /** A whole number from 0 to `bound` - 1. */
  below(bound: number): number {
    return this.#random.below(bound);
  }

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + this.#random.below(most - least + 1);
  }

  /** True `perMille` times in a thousand. */
  happens(perMille: number): boolean {
    return this.#random.below(1000) < perMille;
  }

  pick<A>(choices: readonly [A, ...ReadonlyArray<A>]): A {
    return choices[this.#random.below(choices.length)] ?? choices[0];
  }
}
