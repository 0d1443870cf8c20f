/** A record of a running peer is gone, or is under another key, which a reader cannot tell apart: soon one reads it. */
import type { Unit } from "../base/Choices.ts";
import type { World } from "../world/World.ts";
import { anyPeer } from "./Victims.ts";

/** Records that the fault looks through for one to hit. */
const MOST_RECORDS = 64;
const READ_MICROS = 100;

export const lostRecord = (world: World, unit: Unit): void => {
  const peer = anyPeer(world, unit);
  if (peer.isDamaged || !peer.isVerified || peer.state?.fitness.unsealed !== true || peer.disk.flushing) return;
  const records = peer.store.scan("approvers", "", MOST_RECORDS);
  const record = records[unit.between("record", 0, 0, Math.max(0, records.length - 1), 0, MOST_RECORDS - 1)];
  if (record === undefined) return;
  peer.isDamaged = true;
  peer.disk.remove("approvers", record.key);
  world.after(READ_MICROS, () => world.service.read(peer, record.key));
};
