/** How much of a run is computed as real peers compute it (docs/simulator.md, "Three tiers"). */

/**
 * `fast`: values travel and lie on disks as they are, digests and signatures are stand-ins. `codec`: everything is
 * encoded, hashed and sealed as on a real peer, signatures alone are stand-ins. `real`: everything.
 */
export const tiers = ["fast", "codec", "real"] as const;
export type Tier = (typeof tiers)[number];

/** Of so many seeds that follow one another, one is of each of the two tiers that are not fast. */
export const MIX = 16;
const REAL_PLACE = 8;

/** The tier that a seed has in the default mix. */
export const tierOf = (seed: number): Tier =>
  seed % MIX === 0 ? "codec" : seed % MIX === REAL_PLACE ? "real" : "fast";
