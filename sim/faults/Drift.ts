/** A clock runs too fast or too slow for a while, without a step; at the end something sets it right, with one. */
import type { Unit } from "../base/Choices.ts";
import type { World } from "../world/World.ts";
import { anyPeer } from "./Victims.ts";

/** A bad oscillator, far beyond what hardware does, so that it shows within seconds. */
const MOST_PER_MILLION = 40_000;
const LONGEST = 30_000_000;

export const drift = (world: World, unit: Unit): void => {
  const peer = anyPeer(world, unit);
  const faster = unit.between("faster by parts per million", 0, -MOST_PER_MILLION, MOST_PER_MILLION);
  // The error of a clock counts from the beginning of time, so what it would have gained by now is taken off.
  const gained = Math.floor((Math.floor(world.now / 1000) * faster) / 1_000_000);
  world.clocks.run(peer, faster, -gained);
  world.after(unit.between("for", 5_000_000, 1_000_000, LONGEST), () => {
    // Only its own part is taken back: clocks are set, and others run, meanwhile.
    if (!world.healed) world.clocks.run(peer, -faster, gained);
  });
};
