/** S33: the same seed gives the same trace hash. */
import { Violation } from "../base/Violation.ts";

/** Compares the hashes of two runs of the same seeds; the first difference, or undefined. */
export const sameHashes = (
  seeds: ReadonlyArray<number>,
  first: ReadonlyArray<string>,
  second: ReadonlyArray<string>,
): Violation | undefined => {
  for (const [index, seed] of seeds.entries())
    if (first[index] !== second[index])
      return new Violation("S33", `one run of seed ${seed} has hash ${first[index]}`, `another has ${second[index]}`);
  return undefined;
};
