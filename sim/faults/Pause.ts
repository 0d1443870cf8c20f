/** A process stands still, as under SIGSTOP or on a frozen host: everything that reaches it waits, then comes at once. */
import type { Unit } from "../base/Choices.ts";
import type { World } from "../world/World.ts";
import { anyPeer } from "./Victims.ts";

/** Longer than any answer and any timer of the protocol. */
const LONGEST = 20_000_000;

export const pause = (world: World, unit: Unit): void =>
  world.pauses.pause(anyPeer(world, unit), unit.between("for", 1_000_000, 50_000, LONGEST));
