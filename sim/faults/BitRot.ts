/** One bit of one stored byte flips, in a row or in its seal. On typed disks the row throws on reading. */
import type { Unit } from "../base/Choices.ts";
import type { World } from "../world/World.ts";
import { anyPeer, anyRow } from "./Victims.ts";

/** Longer than any stored row: the byte is drawn modulo its length. */
export const PLACES = 1_000_000;

export const bitRot = (world: World, unit: Unit): void => {
  const peer = anyPeer(world, unit);
  if (peer.isDamaged || peer.disk.flushing) return;
  const hit = anyRow(world, peer, unit);
  if (hit === undefined) return;
  peer.isDamaged = true;
  peer.disk.damage(hit.table, hit.key, unit.between("byte", 0, 0, PLACES));
};
