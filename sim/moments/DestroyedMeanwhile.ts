/** Keys that somebody has destroyed while members repair a share of them, or make new ones. */
import { type MakingState, makings } from "../../core/commands/makeKey/MakingState.ts";
import { type RepairState, repairs } from "../../core/commands/repairShare/RepairState.ts";
import type { Message } from "../../core/Message.ts";
import type { Write } from "../../core/Tables.ts";
import type { Unit } from "../base/Choices.ts";
import { endingIn } from "../models/keys/KeyEffects.ts";
import { ending, renewal, repairing } from "../requests/KeyRequests.ts";
import type { CrashKind } from "../world/Processes.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { Nemesis, World } from "../world/World.ts";
import { anybody, ask, isRestored, lackingAt } from "./KeysInUse.ts";
import { rarely, SECOND } from "./Moment.ts";

/** Microseconds between two requests about one key: about as long as one of them takes. */
const APART = 30_000;

const repairsAt = ({ state }: SimPeer): RepairState =>
  (state?.modules[repairs.name] as RepairState | undefined) ?? repairs.empty;

const makingsAt = ({ state }: SimPeer): MakingState =>
  (state?.modules[makings.name] as MakingState | undefined) ?? makings.empty;

const isOf =
  (keyId: string) =>
  (each: { readonly keyId: string }): boolean =>
    each.keyId === keyId;

/** Whether a peer has a part in a repair of a key. */
const isRepairing = (peer: SimPeer, keyId: string): boolean => {
  const { repairs: own, helping } = repairsAt(peer);
  return [...own.values(), ...helping.values()].some(isOf(keyId));
};

/** Whether it makes shares of a key, or has made some that are not certified. */
const isMakingOf = (peer: SimPeer, keyId: string): boolean => {
  const { sessions, pending } = makingsAt(peer);
  return [...pending.values(), ...[...sessions.values()].map(({ making }) => making)].some(isOf(keyId));
};

/** The key whose final end is in a proposal. */
const endedBy = (message: Message): string | undefined => {
  if (message._tag !== "Prepare") return undefined;
  for (const { proposal } of message.items) {
    const { key } = proposal.kind === "DESTROY" ? endingIn(proposal) : {};
    if (key?.status === "DESTROYED") return key.keyId;
  }
  return undefined;
};

/** The key of a request to make new shares. */
const renewedBy = (message: Message): string | undefined => {
  if (message._tag !== "Keygen.Open") return undefined;
  const [act, keyId] = message.evidence.call.path.split("/").toReversed();
  return act === "refresh" || act === "rotate" ? keyId : undefined;
};

const countStored = (world: World, writes: ReadonlyArray<Write>, ended: ReadonlySet<string>): void => {
  for (const write of writes) {
    if (write.op === "remove") continue;
    const isRepaired = write.table === "audit" && write.row.event === "SHARE_REPAIRED";
    const isRefreshed = write.table === "generations" && write.op === "insert" && write.row.madeBy === "REFRESH";
    if ((isRepaired || isRefreshed) && ended.has(write.row.keyId ?? ""))
      world.marks.add("shares were stored of a key whose end was asked for");
  }
};

const countEnded = (world: World, peer: SimPeer, writes: ReadonlyArray<Write>): void => {
  for (const write of writes) {
    if (write.table !== "custodyKeys" || write.op === "remove" || write.row.status !== "DESTROYED") continue;
    // Its memory is still that of before.
    if (isRepairing(peer, write.key)) world.marks.add("a key was destroyed while a share of it was repaired");
    if (isMakingOf(peer, write.key)) world.marks.add("a key was destroyed while new shares of it were made");
  }
};

/** What a helper tells its target waits for a while, so that the key's end may come first. */
const holdUp = (world: World, unit: Unit, helper: SimPeer, target: number): void => {
  if (helper.slot === world.writerSlot || !unit.chance("is held up", 600)) return;
  const links = world.network.links((from, to) => from === helper.slot && to === target);
  for (const link of links) link.cut = true;
  world.after(unit.between("for", 100_000, 50_000, SECOND / 2), () => {
    for (const link of links) link.cut = false;
  });
};

/** One of those that have to do with it ends meanwhile. */
const crashSome = (world: World, unit: Unit, target: SimPeer): void => {
  if (!unit.chance("somebody ends", 300)) return;
  const who = unit.named("who", "writer", ["writer", "target", "helper"] as const, [1, 1, 1]);
  const others = world.peers.filter((each) => each !== target);
  const helper = others[unit.between("which helper", 0, 0, others.length - 1, 0, 4)] ?? target;
  const peer = who === "writer" ? world.peer(world.writerSlot) : who === "target" ? target : helper;
  const kind = unit.named<CrashKind>("ends by", "process", ["process", "power"], [1, 1]);
  world.after(unit.between("ends after", 1, 1, 2 * APART), () => world.processes.crash(peer, kind));
};

/**
 * Whenever a restored peer lacks a share it is asked to have it repaired, and whenever a share is repaired or a key is
 * renewed somebody asks for its end; when that is proposed, somebody asks for the other again.
 */
export const destroyMeanwhile = (): Nemesis => {
  const now = {
    lost: rarely(SECOND / 10),
    helped: rarely(SECOND / 10),
    renewed: rarely(SECOND / 2),
    ended: rarely(SECOND / 4),
  };
  const ended = new Set<string>();

  const end = (world: World, unit: Unit, keyId: string, base: number): void => {
    const through = world.peer(unit.between("ended through", 1, 1, world.plan.peers));
    world.after(unit.between("ended after", 0, 0, APART), () => {
      if (world.healed) return;
      ended.add(keyId);
      ask(world, through, ending(world.commands, { keyId, base, generation: base, isFinal: true }));
    });
  };

  const repair = (world: World, unit: Unit, peer: SimPeer, keyId: string): void => {
    const { threshold = 2 } = world.ghost.membership?.topology ?? {};
    const others = world.peers.filter((each) => each !== peer);
    const helpers = anybody(unit, others, threshold).map(({ slot }) => slot);
    world.after(unit.between("repaired after", 0, 0, APART), () => {
      if (!world.healed) ask(world, peer, repairing(world.commands, { keyId, helpers }));
    });
  };

  const baseAt = ({ store }: SimPeer, keyId: string): number => store.get("custodyKeys", keyId)?.generation ?? 1;

  return {
    sent: (world, peer, to, message) => {
      const renewed = renewedBy(message);
      if (renewed !== undefined)
        now.renewed(world, (unit) => {
          if (!unit.chance("is ended, too", 300)) return;
          end(world, unit, renewed, baseAt(peer, renewed));
          crashSome(world, unit, world.peer(to));
        });
      const over = endedBy(message);
      if (over !== undefined)
        now.ended(world, (unit) => {
          const base = baseAt(peer, over);
          const lacking = world.peers.find(
            (each) => isRestored(world, each) && !each.isDamaged && lackingAt(each) === over,
          );
          if (lacking !== undefined) return repair(world, unit, lacking, over);
          const through = world.peer(unit.between("renewed through", 1, 1, world.plan.peers));
          ask(world, through, renewal(world.commands, "refresh", { keyId: over, base, assetOwner: undefined }));
        });
      if (message._tag !== "Repair.Key") return;
      const helping = [...repairsAt(peer).helping.values()].find(({ sessionId }) => sessionId === message.sessionId);
      if (helping === undefined) return;
      now.helped(world, (unit) => {
        holdUp(world, unit, peer, helping.target);
        end(world, unit, helping.keyId, baseAt(peer, helping.keyId));
        crashSome(world, unit, world.peer(helping.target));
      });
    },
    flushed: (world, peer, writes) => {
      countStored(world, writes, ended);
      countEnded(world, peer, writes);
      if (world.healed || !isRestored(world, peer)) return;
      if (peer.isDamaged || peer.state?.fitness.unsealed !== true || peer.state.rejoining.recovery !== undefined)
        return;
      now.lost(world, (unit) => {
        const keyId = lackingAt(peer);
        if (keyId === undefined) return;
        repair(world, unit, peer, keyId);
        if (unit.chance("is ended at once", 300)) end(world, unit, keyId, baseAt(peer, keyId));
      });
    },
  };
};
