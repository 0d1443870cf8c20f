/**
 * Everything that may happen to a world at random, each by its name. A fault
 * happens once when called and sees to its own end; schedules draw them by weight.
 * All it decides, now and later, are draws of the one unit it is given.
 */
import type { Unit } from "../base/Choices.ts";
import { bitRot } from "./BitRot.ts";
import { declaredRestore, restoreEverywhere } from "./DeclaredRestore.ts";
import { drift } from "./Drift.ts";
import { foreignCluster } from "./ForeignCluster.ts";
import { fullDisk } from "./FullDisk.ts";
import { loseIntegrityKey, rotateIntegrity } from "./IntegrityKeys.ts";
import { lostRecord } from "./LostRecord.ts";
import { pause } from "./Pause.ts";
import { silentMember } from "./SilentMember.ts";
import { anyPacket, anyPeer, anyRow } from "./Victims.ts";
import { alteredMessage } from "./Forgery.ts";
import type { FlushEnd } from "../disks/LayeredDisk.ts";
import type { Link } from "../network/Network.ts";
import type { World } from "../world/World.ts";
import type { CrashKind } from "../world/Processes.ts";

const SECOND = 1_000_000;
const DAY_MILLIS = 86_400_000;
/** No plan lets faults come more slowly, in microseconds. */
const LONGEST_WINDOW = 6_000_000;

const anyLink = (world: World, unit: Unit): Link => {
  const { peers } = world.plan;
  const from = unit.between("from peer", 1, 1, peers);
  const next = (from % peers) + 1;
  const others = world.peers.flatMap(({ slot }) => (slot === from || slot === next ? [] : [slot]));
  return world.network.link(from, unit.oneOf("to peer", next, [next, ...others]));
};

/** Changes links for a while. */
const forAWhile = (
  world: World,
  unit: Unit,
  links: ReadonlyArray<Link>,
  change: Partial<Link>,
  mostMicros = 4 * SECOND,
): void => {
  const before = links.map((link) => ({ ...link }));
  for (const link of links) Object.assign(link, change);
  world.after(unit.between("for", SECOND, 10_000, mostMicros), () => {
    if (world.healed) return;
    links.forEach((link, index) => {
      const old = before[index];
      for (const key of Object.keys(change))
        if (old !== undefined) Object.assign(link, { [key]: old[key as keyof Link] });
    });
  });
};

const everyLink = (world: World): ReadonlyArray<Link> => world.network.links(() => true);

const flap = (world: World, unit: Unit, link: Link, left: number): void => {
  if (world.healed) return;
  link.cut = left % 2 === 1;
  if (left === 0) world.marks.add("a link that came and went is back");
  if (left > 0)
    world.after(unit.between("turns after", 100_000, 1_000, 300_000), () => flap(world, unit, link, left - 1));
};

/** Cuts a peer, with any that are drawn to be on its side, off from the others. */
const partition = (world: World, unit: Unit): void => {
  const { slot } = anyPeer(world, unit);
  const side = new Set(world.peers.flatMap((each) => (each.slot === slot ? [slot] : [])));
  for (const each of world.peers)
    if (each.slot !== slot && unit.chance(`with peer ${each.slot}`, 400)) side.add(each.slot);
  const links = world.network.links((from, to) => side.has(from) !== side.has(to));
  forAWhile(world, unit, links, { cut: true }, 12 * SECOND);
};

const failFlush = (world: World, unit: Unit, how: FlushEnd): void =>
  world.flushes.armEnd(
    anyPeer(world, unit),
    how,
    unit.named<CrashKind>("ends by", "process", ["process", "power"], [1, 1]),
  );

const crashDuringFlush = (world: World, unit: Unit, kind: CrashKind): void =>
  world.flushes.armCrash(anyPeer(world, unit), kind, unit.between("per mille of it", 500, 0, 999));

const sealForAWhile = (world: World, unit: Unit): void => {
  const peer = anyPeer(world, unit);
  world.operators.seal(peer);
  world.after(unit.between("for", SECOND, 10_000, 3 * SECOND), () => world.operators.unseal(peer));
};

const stepClock = (world: World, unit: Unit, mostMillis: number): void => {
  const peer = anyPeer(world, unit);
  const by = unit.between("by milliseconds", 0, -mostMillis, mostMillis);
  world.clocks.set(peer, by);
  world.after(unit.between("for", SECOND, 100_000, 6 * SECOND), () => {
    if (!world.healed) world.clocks.set(peer, -by);
  });
};

/** Rows are deleted while no process runs: between a crash and the next start. */
const deleteRow = (world: World, unit: Unit): void => {
  const peer = anyPeer(world, unit);
  if (peer.isDamaged || !peer.isUp || peer.disk.flushing) return;
  const hit = anyRow(world, peer, unit);
  if (hit === undefined) return;
  world.processes.crash(peer, "process");
  peer.isDamaged = true;
  peer.disk.remove(hit.table, hit.key);
};

const repairRows = (world: World, unit: Unit): void => {
  const peer = anyPeer(world, unit);
  if (!peer.isDamaged) return;
  world.processes.crash(peer, "process");
  peer.disk.repair();
  peer.isDamaged = false;
  world.after(SECOND, () => world.processes.start(peer));
};

const replay = (world: World, unit: Unit): void => {
  const old = anyPacket(world, unit);
  if (old === undefined) return;
  const delay = unit.between("after", SECOND, 1, 5 * SECOND);
  world.mail.transmit(old.to, old.packet, delay, { from: old.from.slot, message: old.message, how: "replayed" });
};

const forge = (world: World, unit: Unit): void => {
  const old = anyPacket(world, unit);
  if (old === undefined) return;
  const packet = world.cryptography.wire.forge(old.packet);
  world.mail.transmit(old.to, packet, 500, { from: old.from.slot, message: old.message, how: "forged" });
};

/** A member sends what it should not: a real message with one thing in it changed, in a valid envelope. */
const alter = (world: World, unit: Unit): void => {
  const old = anyPacket(world, unit);
  if (old?.from.state === undefined) return;
  const message = alteredMessage(world, unit, old.message);
  if (message === undefined) return;
  const { wire } = world.cryptography;
  const { state, keys, composition } = old.from;
  const packet = wire.seal(state, keys.identity, () => world.entropy.digest(), old.to, message, composition);
  if (packet !== undefined) world.mail.transmit(old.to, packet, 500, { from: old.from.slot, message, how: "altered" });
};

/** Makes something happen to the world; its draws are those of the unit. */
type Fault = (world: World, unit: Unit) => void;

export const faultTable = {
  "lossy link": (world, unit) => forAWhile(world, unit, [anyLink(world, unit)], { loss: 400 }),
  "lossy network": (world, unit) => forAWhile(world, unit, everyLink(world), { loss: 150 }),
  "duplicating network": (world, unit) => forAWhile(world, unit, everyLink(world), { duplication: 400 }),
  "reordering network": (world, unit) =>
    forAWhile(world, unit, everyLink(world), { leastDelay: 50, mostDelay: 60_000 }),
  "slow link": (world, unit) =>
    forAWhile(world, unit, [anyLink(world, unit)], { leastDelay: 200_000, mostDelay: 3 * SECOND }),
  "one-way cut": (world, unit) => forAWhile(world, unit, [anyLink(world, unit)], { cut: true }, 8 * SECOND),
  partition,
  "flapping link": (world, unit) => flap(world, unit, anyLink(world, unit), 2 * unit.between("times", 2, 2, 10)),
  crash: (world, unit) => world.processes.crash(anyPeer(world, unit), "process"),
  "crash, bytes visible": (world, unit) => world.processes.crash(anyPeer(world, unit), "process, bytes visible"),
  "crash during a flush": (world, unit) => crashDuringFlush(world, unit, "process"),
  "crash during a flush, bytes visible": (world, unit) => crashDuringFlush(world, unit, "process, bytes visible"),
  "power loss during a flush": (world, unit) => crashDuringFlush(world, unit, "power"),
  "crash after a flush": (world, unit) => world.flushes.armEnd(anyPeer(world, unit), "durable, unreported"),
  "crash between actions": (world, unit) =>
    world.processes.armCrash(
      anyPeer(world, unit),
      unit.between("actions later", 0, 0, 4),
      unit.named<CrashKind>("ends by", "process", ["process", "power"], [1, 1]),
    ),
  "power loss": (world, unit) => world.processes.crash(anyPeer(world, unit), "power"),
  "power loss everywhere": (world) => {
    for (const peer of world.peers) world.processes.crash(peer, "power");
  },
  "crash everywhere": (world, unit) => {
    for (const peer of world.peers)
      world.processes.crash(
        peer,
        unit.chance(`bytes visible at peer ${peer.slot}`, 500) ? "process, bytes visible" : "process",
      );
  },
  "failed flush, lost": (world, unit) => failFlush(world, unit, "failed, lost"),
  "failed flush, durable": (world, unit) => failFlush(world, unit, "failed, durable"),
  "slow disk": (world, unit) => {
    const peer = anyPeer(world, unit);
    world.flushes.slow(peer, unit.between("times as slow", 5, 5, 400));
    world.after(unit.between("for", SECOND, 100_000, 8 * SECOND), () => world.flushes.slow(peer, 1));
  },
  seal: sealForAWhile,
  "clock step within bounds": (world, unit) => stepClock(world, unit, 1_500),
  "clock step beyond bounds": (world, unit) => stepClock(world, unit, 90_000),
  "clock days off": (world, unit) => stepClock(world, unit, 30 * DAY_MILLIS),
  "token keys unavailable": (world, unit) => {
    const { slot } = anyPeer(world, unit);
    world.tokenKeys.unavailable.add(slot);
    world.after(unit.between("for", SECOND, 10_000, 3 * SECOND), () => world.tokenKeys.unavailable.delete(slot));
  },
  "token keys gone": (world, unit) => {
    const peer = anyPeer(world, unit);
    world.tokenKeys.lose(peer);
    world.after(unit.between("for", SECOND, 10_000, 25 * SECOND), () => world.tokenKeys.regain(peer));
  },
  "replayed message": replay,
  "forged envelope": forge,
  "altered message": alter,
  "altered in flight": (world, unit) => world.mail.alterNext((message) => alteredMessage(world, unit, message)),
  "bit rot": bitRot,
  "deleted row": deleteRow,
  "lost record": lostRecord,
  // A prefix of the unsynced rows is on the disk: the signed head must notice.
  "torn write": (world, unit) => crashDuringFlush(world, unit, "power, torn write"),
  "repaired rows": repairRows,
  "full disk": fullDisk,
  pause,
  "clock drift": drift,
  "silent member": silentMember,
  "message of another cluster": foreignCluster,
  "request through two peers": (world) => world.service.callers.sendTwice(),
  "contradicting metadata": (world) => world.service.callers.contradict(),
  "declared restore": declaredRestore,
  "restores declared everywhere": restoreEverywhere,
  "another relying party": (world, unit) => world.parties.change(unit),
  "rotated integrity key": rotateIntegrity,
  "lost integrity key": loseIntegrityKey,
} as const satisfies { readonly [name: string]: Fault };

export type FaultName = keyof typeof faultTable;
export const faultNames = Object.keys(faultTable) as ReadonlyArray<FaultName>;

/**
 * Lets random faults happen, by weight, until the world is healed. Time is cut into
 * windows and every window has its own unit, so that a fault that is taken away moves
 * no other one.
 */
export const startFaults = (world: World): void => {
  const names = ["none", ...faultNames] as const;
  const weights = names.map((name) => (name === "none" ? 0 : (world.plan.faults.get(name) ?? 0)));
  const stream = world.choices.stream("fault");
  const window = (): void => {
    if (world.healed) return;
    const unit = stream.next();
    const name = unit.named("what", "none", names, weights);
    if (name !== "none")
      world.after(unit.between("in its window at", 0, 0, world.plan.faultMicros - 1, 0, LONGEST_WINDOW), () => {
        if (world.healed) return;
        world.faults.add(name);
        faultTable[name](world, unit);
      });
    world.after(world.plan.faultMicros, window);
  };
  window();
};
