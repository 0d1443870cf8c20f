/** Every write is refused cleanly and nothing of it is kept; the process halts, as on any failed store, until there is room again. */
import type { Unit } from "../base/Choices.ts";
import type { World } from "../world/World.ts";
import { anyPeer } from "./Victims.ts";

const LONGEST = 6_000_000;

export const fullDisk = (world: World, unit: Unit): void => {
  const peer = anyPeer(world, unit);
  world.flushes.fill(peer, true);
  world.after(unit.between("for", 1_000_000, 50_000, LONGEST), () => world.flushes.fill(peer, false));
};
