/** Operators rotate integrity keys, and now and then a disk loses a key of the history. */
import { allRows } from "../../core/protocol/AllRows.ts";
import { FIRST_INTEGRITY_VERSION } from "../../core/protocol/Fitness.ts";
import { numberKey } from "../../core/protocol/Tables.ts";
import type { Unit } from "../base/Choices.ts";
import type { World } from "../world/World.ts";
import { anyPeer } from "./Victims.ts";

/** Keys of one peer, at most. */
const MOST_KEYS = 8;

export const rotateIntegrity = (world: World, unit: Unit): void => {
  const peer = anyPeer(world, unit);
  const { state } = peer;
  if (state === undefined || state.fitness.integrityFault !== undefined || state.fitness.integrityVersion >= MOST_KEYS)
    return;
  world.operators.rotateIntegrity(peer);
};

/** One row of the history is gone at the next start. */
export const loseIntegrityKey = (world: World, unit: Unit): void => {
  const peer = anyPeer(world, unit);
  if (peer.isDamaged || !peer.isUp || peer.disk.flushing) return;
  const count = allRows(peer.store, "integrity").length;
  if (count === 0) return;
  const version = FIRST_INTEGRITY_VERSION + unit.between("which", 1, 1, count, 1, MOST_KEYS);
  world.processes.crash(peer, "process");
  peer.isDamaged = true;
  peer.disk.remove("integrity", numberKey(version));
  world.marks.add("an integrity key was missing from the history");
};
