/** Peers that go on to the version with the index of approvers, and end in the middle of making it. */
import { SELF } from "../../core/protocol/Tables.ts";
import type { Write } from "../../core/Tables.ts";
import type { Choices } from "../base/Choices.ts";
import { Walk } from "../oracle/Listing.ts";
import { queryOf } from "../requests/ListQueries.ts";
import type { CrashKind } from "../world/Processes.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { Nemesis, World } from "../world/World.ts";

const kinds = ["process", "process, bytes visible", "power"] as const;
const LATER_MICROS = 30_000;
const FIRST = { limit: 5, cursor: undefined };
const ALL = { id: undefined, type: undefined, metadata: [] };

/** Whether a transaction is a part of making the index, and not the last one. */
const isPart = (write: Write): boolean =>
  write.table === "indexed" && write.op !== "remove" && write.row.upTo !== undefined;

/** Whether the first part of the index is still to come. */
const isDue = ({ lacksIndex, disk }: SimPeer): boolean => !lacksIndex && !disk.holds("indexed", SELF);

const list = (world: World, peer: SimPeer): void =>
  world.lists.page(
    peer,
    { walk: new Walk(ALL), filter: ALL, ...FIRST, query: queryOf({ ...ALL, ...FIRST }) },
    0,
    (outcome) => {
      if (outcome !== "gone" && outcome._tag === "Refused") world.marks.add(`list: ${outcome.code}`);
    },
  );

/**
 * Some peers begin with the version from before the index, and go on when they have so many approvers. Some of their
 * processes end while the index is being made.
 *
 * @param approvers the least and the most of them
 */
export const olderVersion = (choices: Choices, approvers: readonly [least: number, most: number]): Nemesis => {
  const [least, most] = approvers;
  const enough = choices.plan("older version").between("until approvers", least, least, most);
  const stored = new Map<number, number>();

  const goOn = (world: World, peer: SimPeer): void => {
    if (world.healed || !peer.lacksIndex) return;
    world.processes.crash(peer, "process");
    peer.lacksIndex = false;
  };

  /** The index is being made: somebody lists meanwhile, or the process ends before the next part, or a little later. */
  const strike = (world: World, peer: SimPeer, perMille: number): void => {
    const unit = world.choices.stream(`index of peer ${peer.slot}`).next();
    if (unit.chance("is listed", 300))
      world.after(unit.between("listed after", 1, 1, LATER_MICROS), () => list(world, peer));
    if (!unit.chance("is cut", perMille)) return;
    world.faults.add("crash while an index is made");
    const kind = unit.named<CrashKind>("ends by", "process", kinds, [1, 1, 1]);
    if (unit.chance("in its flush", 500))
      world.flushes.armCrash(peer, kind, unit.between("per mille of it", 500, 0, 999));
    else world.after(unit.between("after", 1, 1, LATER_MICROS), () => world.processes.crash(peer, kind));
  };

  return {
    started: (world) => {
      for (const peer of world.peers) {
        const unit = world.choices.stream(`older version of peer ${peer.slot}`).next();
        if (!unit.chance("begins with it", 700)) continue;
        world.faults.add("disk from before the index");
        peer.lacksIndex = true;
      }
    },
    flushed: (world, peer, writes) => {
      if (!peer.lacksIndex) {
        if (writes.some(isPart)) strike(world, peer, 500);
        else if ((stored.get(peer.slot) ?? 0) >= enough && isDue(peer)) strike(world, peer, 300);
        return;
      }
      const more = writes.filter(({ table, op }) => table === "approvers" && op === "insert").length;
      const before = stored.get(peer.slot) ?? 0;
      stored.set(peer.slot, before + more);
      if (more === 0 || before + more < enough) return;
      const unit = world.choices.stream(`next version of peer ${peer.slot}`).next();
      world.after(unit.between("goes on after", 1, 1, 200_000), () => goOn(world, peer));
    },
  };
};
