/**
 * Somebody is at a disk while no process runs: rows of the registry go, or come back as they were, with the seals they
 * had, or are altered. An unseal does not look at all of them, and callers ask for what was there.
 */
import { type ApproverFilter, credentialTypes } from "../../core/commands/approvers/Terms.ts";
import type { TableName } from "../../core/Tables.ts";
import type { Choices, Unit } from "../base/Choices.ts";
import { alter } from "../faults/BitRot.ts";
import { anyRow } from "../faults/Victims.ts";
import { Walk } from "../oracle/Listing.ts";
import { queryOf } from "../requests/ListQueries.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { Nemesis, World } from "../world/World.ts";
import { struck } from "./Moment.ts";

/** Flushes of a peer between two visits. */
const EVERY = 16;
/** Tables whose rows are asked for by key. */
const ASKED: ReadonlyArray<TableName> = ["approvers", "keys", "slots", "certificates", "terms"];
const MOST_ROWS = 64;
/** How a record is altered: with a flipped bit it is refused before anybody looks at its proof. */
const OFTEN_FORGED = [1, 3, 1];
const ASKED_AFTER_MICROS: ReadonlyArray<number> = Array.from({ length: 16 }, (_, at) => (at + 1) * 50_000);
const REPAIRED_AFTER_MICROS = 3_000_000;

/** What callers look for in a list: all, or by any term that there usually is in the index. */
const LISTED: ReadonlyArray<ApproverFilter> = [
  { id: undefined, type: undefined, metadata: [] },
  ...credentialTypes.map((type) => ({ id: undefined, type, metadata: [] })),
  ...["team-1", "team-2", "team-3"].map((team) => ({
    id: undefined,
    type: undefined,
    metadata: [["team", team]] as const,
  })),
];

/** Callers list before all rows are looked at. */
const list = ({ lists }: World, peer: SimPeer): void => {
  if (!peer.isVerified || !peer.disk.isHarmedBefore) return;
  for (const filter of LISTED) {
    const asked = { limit: MOST_ROWS, cursor: undefined };
    const query = queryOf({ ...filter, ...asked });
    lists.page(peer, { ...asked, filter, walk: new Walk(filter), query }, 0, () => undefined);
  }
};

/** A caller asks for a record, and for lists, before all rows are looked at or not. */
const askFor = (world: World, peer: SimPeer, table: TableName, key: string): void => {
  if (table !== "approvers" && table !== "terms") return;
  for (const after of ASKED_AFTER_MICROS)
    world.after(after, () => {
      if (table === "approvers") world.service.read(peer, key);
      list(world, peer);
    });
};

const takeAway = (world: World, peer: SimPeer, unit: Unit): boolean => {
  const { disk } = peer;
  const table = unit.named("of table", "approvers", ASKED, [3, 1, 1, 1, 3]);
  const rows = disk.watched.scan(table, "", MOST_ROWS);
  const hit = rows[unit.between("row", 0, 0, Math.max(0, rows.length - 1), 0, MOST_ROWS - 1)];
  if (hit === undefined) return false;
  disk.remove(table, hit.key);
  askFor(world, peer, table, hit.key);
  return true;
};

const visit = (world: World, peer: SimPeer, unit: Unit): boolean => {
  const does = ["takes one away", "puts one back", "puts a range back"] as const;
  const how = unit.named("does", "takes one away", does, [2, 1, 1]);
  if (how === "takes one away") return takeAway(world, peer, unit);
  const at = unit.between("which", 0, 0, MOST_ROWS);
  if (how === "puts one back") return peer.disk.putOlder(at);
  const isBack = peer.disk.putOlderRange(at);
  if (isBack) world.marks.add("a range of rows was put back as it was");
  return isBack;
};

/** A record that somebody will ask for. */
const anyRecord = ({ disk }: SimPeer, unit: Unit) => {
  const rows = disk.watched.scan("approvers", "", MOST_ROWS);
  const row = rows[unit.between("record", 0, 0, Math.max(0, rows.length - 1), 0, MOST_ROWS - 1)];
  return row && { table: "approvers" as const, key: row.key };
};

/** Whichever row it is, the next process must not be started on it. */
const alterOne = (world: World, peer: SimPeer): boolean => {
  const unit = world.choices.stream(`altered rows of peer ${peer.slot}`).next();
  const isAny = unit.chance("one is altered", 300);
  if (!isAny && !unit.chance("a record is altered", 120)) return false;
  const hit = isAny ? anyRow(world, peer, unit) : anyRecord(peer, unit);
  if (hit === undefined) return false;
  alter(peer, hit.table, hit.key, unit, isAny ? undefined : OFTEN_FORGED);
  askFor(world, peer, hit.table, hit.key);
  world.marks.add("a row was altered while no process ran");
  return true;
};

const repair = (world: World, peer: SimPeer): void => {
  if (world.healed || !peer.isDamaged) return;
  world.processes.crash(peer, "process", false);
  peer.disk.repair();
  peer.isDamaged = false;
  world.processes.start(peer);
};

export const changeRowsWhileDown = (choices: Choices): Nemesis => {
  const counts = new Map<number, number>();
  const first = choices.plan("rows while down").between("at flush", 8, 4, EVERY);
  return {
    flushed: (world, peer) => {
      const count = (counts.get(peer.slot) ?? 0) + 1;
      counts.set(peer.slot, count);
      if (world.healed || peer.isDamaged || peer.state?.cluster.membership === undefined) return;
      const visits = world.choices.stream(`rows of peer ${peer.slot} while down`).next();
      const unit = struck(world, visits, "rows changed while no process ran", count % EVERY === first % EVERY);
      if (unit === undefined) return;
      world.after(1, () => {
        if (world.healed || peer.isDamaged || !peer.isUp || peer.disk.flushing) return;
        world.processes.crash(peer, "process");
        if (!alterOne(world, peer) && !visit(world, peer, unit)) return;
        peer.isDamaged = true;
        world.marks.add("rows were changed while no process ran");
        world.after(REPAIRED_AFTER_MICROS, () => repair(world, peer));
      });
    },
  };
};
