/**
 * The bytes that have to differ (keys, nonces, what a peer's driver asks for as entropy). They are no choices: no run
 * is better or worse for them, so they stay a function of the seed alone and are on no tape.
 */
import { type RandomGenerator, unsafeUniformIntDistribution, xoroshiro128plus } from "pure-rand";
import type { Digest, Entropy } from "../../core/base/Digest.ts";
import { hexOfWord, Mixer } from "./Mixer.ts";

export class Prng {
  readonly #generator: RandomGenerator;

  constructor(seed: number) {
    this.#generator = xoroshiro128plus(seed);
  }

  /** A whole number from 0 to `bound` - 1. */
  below(bound: number): number {
    return unsafeUniformIntDistribution(0, bound - 1, this.#generator);
  }

  /** 64 hexadecimal characters that hold 64 random bits. */
  digest(): Digest {
    const half = hexOfWord(this.#generator.unsafeNext()) + hexOfWord(this.#generator.unsafeNext());
    return half.repeat(4) as Digest;
  }

  /** The same, for what stays where it is drawn. */
  entropy(): Entropy {
    return this.digest() as string as Entropy;
  }
}

/**
 * The entropy of one user of it in a run.
 *
 * @param seed a whole number from 0
 * @param user a peer's number, or 0 for the world itself
 */
export const entropyOf = (seed: number, user: number): Prng => {
  const mixer = new Mixer().reset(user);
  mixer.uint(seed);
  return new Prng(mixer.first);
};
