/** How much of a run is computed as real peers compute it (docs/simulator.md, "Three tiers"). */

/**
 * `fast`: values travel and lie on disks as they are, digests and signatures are stand-ins. `codec`: everything is
 * encoded, hashed and sealed as on a real peer, signatures alone are stand-ins. `real`: everything.
 */
export const tiers = ["fast", "codec", "real"] as const;
export type Tier = (typeof tiers)[number];

/** One seed in so many consecutive ones is of the tier codec. */
export const CODEC_MIX = 16;
/**
 * One in so many is of the tier real. What it adds to the tier codec is Ed25519, HMAC, real keys and the product's
 * ceremony, which have tests of their own; so it costs a hunt a fiftieth of its time, not a fourth.
 */
export const REAL_MIX = 512;
const REAL_PLACE = 8;

/** The tier that a seed has in the default mix. */
export const tierOf = (seed: number): Tier =>
  seed % CODEC_MIX === 0 ? "codec" : seed % REAL_MIX === REAL_PLACE ? "real" : "fast";
