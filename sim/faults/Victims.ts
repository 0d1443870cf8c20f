/** What a random fault hits: peers, packets and rows. */
import type { TableName } from "../../core/Tables.ts";
import type { Unit } from "../base/Choices.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { World } from "../world/World.ts";
import { KEPT_PACKETS, type SentPacket } from "../world/Mail.ts";

export const anyPeer = (world: World, unit: Unit): SimPeer => world.peer(unit.between("peer", 1, 1, world.plan.peers));

/** One of the newest packets; undefined while there is none. */
export const anyPacket = (world: World, unit: Unit): SentPacket | undefined =>
  world.mail.recent[unit.between("packet", 0, 0, Math.max(0, world.mail.recent.length - 1), 0, KEPT_PACKETS - 1)];

/** Rows of a table that a fault looks through for one to hit. */
const MOST_ROWS = 64;

/** Some row that a peer has stored; undefined while there is none worth hitting. */
export const anyRow = (
  { product }: World,
  peer: SimPeer,
  unit: Unit,
): { readonly table: TableName; readonly key: string } | undefined => {
  const all = product.composition.tables.names as ReadonlyArray<TableName>;
  const tableNames = all.filter((table) => table !== "seals" && table !== "ranges");
  const even = tableNames.map(() => 1);
  const named = unit.named("table", "peer", tableNames, even);
  // Where rows are sealed, what a bulk run has none of.
  const table = named === "head" ? "seals" : named;
  if (table === "vault") return undefined;
  const rows = peer.store.scan(table, "", MOST_ROWS);
  if (table === "seals" && rows.length === 0) return undefined;
  const row = rows[unit.between("row", 0, 0, Math.max(0, rows.length - 1), 0, MOST_ROWS - 1)];
  return row && { table, key: row.key };
};

/** One that works, and to which all members have shown what they know of it. */
export const takesPart = ({ honest, isDamaged, state }: SimPeer): boolean =>
  honest && !isDamaged && state?.fitness.unsealed === true && state.rejoining.unproven.size === 0;
