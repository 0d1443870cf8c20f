/**
 * One bit of one stored byte flips, in a row or in its seal. On typed disks the row throws on reading. Where rows have
 * seals it may be somebody without keys instead, who knows the proofs of older programs.
 */
import type { TableName } from "../../core/Tables.ts";
import type { Unit } from "../base/Choices.ts";
import type { World } from "../world/World.ts";
import { alterations } from "../disks/PeerDisk.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import { anyPeer, anyRow } from "./Victims.ts";

/** Longer than any stored row: the byte is drawn modulo its length. */
export const PLACES = 1_000_000;

const USUALLY = [2, 1, 1];

/** A row of a peer is not what it was. */
export const alter = (peer: SimPeer, table: TableName, key: string, unit: Unit, weights = USUALLY): void => {
  const at = unit.between("byte", 0, 0, PLACES);
  if (!peer.disk.hasSeals) return peer.disk.damage(table, key, at);
  peer.disk.damage(table, key, at, unit.named("has then", "a bit flipped", alterations, weights));
};

export const bitRot = (world: World, unit: Unit): void => {
  const peer = anyPeer(world, unit);
  if (peer.isDamaged || peer.disk.flushing) return;
  const hit = anyRow(world, peer, unit);
  if (hit === undefined) return;
  peer.isDamaged = true;
  alter(peer, hit.table, hit.key, unit);
};
