/**
 * Randomness of a run: one generator per concern, so that a change to one kind of
 * fault leaves the draws of all others as they were. Integers only.
 */
import { type RandomGenerator, unsafeUniformIntDistribution, xoroshiro128plus } from "pure-rand";
import type { Digest } from "../core/Digest.ts";
import { hexOfWord } from "./Mixer.ts";

const concerns = ["plan", "network", "disk", "crashes", "workload", "entropy", "clock"] as const;
export type Concern = (typeof concerns)[number];

/** Neighbouring seeds must not give neighbouring streams (the finalizer of MurmurHash3). */
const scatter = (value: number): number => {
  let mixed = value | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
};

export class Prng {
  readonly #generator: RandomGenerator;

  constructor(seed: number) {
    this.#generator = xoroshiro128plus(seed);
  }

  /** A whole number from 0 to `bound` - 1. */
  below(bound: number): number {
    return unsafeUniformIntDistribution(0, bound - 1, this.#generator);
  }

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return unsafeUniformIntDistribution(least, most, this.#generator);
  }

  /** True `perMille` times in a thousand; draws nothing where the answer is certain. */
  chance(perMille: number): boolean {
    return perMille > 0 && (perMille >= 1000 || this.below(1000) < perMille);
  }

  pick<A>(choices: readonly [A, ...ReadonlyArray<A>]): A {
    return choices[this.below(choices.length)] ?? choices[0];
  }

  /** 64 hexadecimal characters that hold 64 random bits. */
  digest(): Digest {
    const half = hexOfWord(this.#generator.unsafeNext()) + hexOfWord(this.#generator.unsafeNext());
    return half.repeat(4) as Digest;
  }
}

export type Streams = { readonly [C in Concern]: Prng };

/** The streams of a seed (a whole number from 0). */
export const streamsOf = (seed: number): Streams => {
  const folded = scatter((seed % 0x100000000) ^ Math.imul(Math.floor(seed / 0x100000000), 0x9e3779b1));
  const stream = (concern: Concern): Prng =>
    new Prng(scatter(folded + Math.imul(concerns.indexOf(concern) + 1, 0x9e3779b1)));
  return {
    plan: stream("plan"),
    network: stream("network"),
    disk: stream("disk"),
    crashes: stream("crashes"),
    workload: stream("workload"),
    entropy: stream("entropy"),
    clock: stream("clock"),
  };
};
