/**
 * Everything that may happen to a world at random, each by its name. A fault
 * happens once when called and sees to its own end; schedules draw them by weight.
 */
import { tableNames } from "../core/Tables.ts";
import { alteredMessage } from "./Forgery.ts";
import type { FlushEnd } from "./LayeredDisk.ts";
import type { Link } from "./Network.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { World } from "./World.ts";

const SECOND = 1_000_000;

const anyPeer = (world: World): SimPeer => world.peer(1 + world.streams.crashes.below(world.plan.peers));

const anyLink = (world: World): Link => {
  const { network, peers } = { network: world.streams.network, peers: world.plan.peers };
  const from = 1 + network.below(peers);
  return world.network.link(from, 1 + ((from - 1 + 1 + network.below(Math.max(1, peers - 1))) % peers));
};

/** Changes links for a while. */
const forAWhile = (world: World, links: ReadonlyArray<Link>, change: Partial<Link>, mostMicros = 4 * SECOND): void => {
  const before = links.map((link) => ({ ...link }));
  for (const link of links) Object.assign(link, change);
  world.after(world.streams.network.between(10_000, mostMicros), () => {
    if (world.healed) return;
    links.forEach((link, index) => {
      const old = before[index];
      for (const key of Object.keys(change))
        if (old !== undefined) Object.assign(link, { [key]: old[key as keyof Link] });
    });
  });
};

const flap = (world: World, link: Link, left: number): void => {
  if (world.healed) return;
  link.cut = left % 2 === 1;
  if (left > 0) world.after(world.streams.network.between(1_000, 300_000), () => flap(world, link, left - 1));
};

const armFlush = (world: World, how: FlushEnd): void => world.armFlush(anyPeer(world), how);

const sealForAWhile = (world: World): void => {
  const peer = anyPeer(world);
  world.seal(peer);
  world.after(world.streams.crashes.between(10_000, 3 * SECOND), () => world.unseal(peer));
};

const stepClock = (world: World, peer: SimPeer, millis: number): void => {
  const before = peer.clock.offsetMillis;
  peer.clock.offsetMillis += millis;
  peer.hadClockStep = true;
  world.after(world.streams.clock.between(100_000, 6 * SECOND), () => {
    if (!world.healed) peer.clock.offsetMillis = before;
  });
};

/** Some row that a peer has stored; undefined while there is none worth hitting. */
const anyRow = (world: World, peer: SimPeer) => {
  const table = tableNames[world.streams.disk.below(tableNames.length)] ?? "peer";
  if (table === "head" || table === "vault") return undefined;
  const rows = peer.store.scan(table, "", 64);
  const row = rows[world.streams.disk.below(Math.max(1, rows.length))];
  return row && { table, key: row.key };
};

const damageRow = (world: World): void => {
  const peer = anyPeer(world);
  if (peer.isDamaged || peer.disk.flushing) return;
  const hit = anyRow(world, peer);
  if (hit === undefined) return;
  peer.isDamaged = true;
  peer.disk.damage(hit.table, hit.key);
};

/** Rows are deleted while nobody looks: between a crash and the next start. */
const deleteRow = (world: World): void => {
  const peer = anyPeer(world);
  if (peer.isDamaged || !peer.isUp || peer.disk.flushing) return;
  const hit = anyRow(world, peer);
  if (hit === undefined) return;
  world.crash(peer, "process");
  peer.isDamaged = true;
  peer.disk.remove(hit.table, hit.key);
};

const repairRows = (world: World): void => {
  const peer = anyPeer(world);
  if (!peer.isDamaged) return;
  world.crash(peer, "process");
  peer.disk.repair();
  peer.isDamaged = false;
  world.after(SECOND, () => world.start(peer));
};

const replay = (world: World): void => {
  const old = world.recent[world.streams.network.below(Math.max(1, world.recent.length))];
  if (old === undefined) return;
  const delay = world.streams.network.between(1, 5 * SECOND);
  world.transmit(old.to, old.packet, delay, { from: old.from.slot, message: old.message, how: "replayed" });
};

const forge = (world: World): void => {
  const old = world.recent[world.streams.network.below(Math.max(1, world.recent.length))];
  if (old === undefined) return;
  const packet = world.cryptography.wire.forge(old.packet);
  world.transmit(old.to, packet, 500, { from: old.from.slot, message: old.message, how: "forged" });
};

/** A member sends what it should not: a real message with one thing in it changed, in a valid envelope. */
const alter = (world: World): void => {
  const old = world.recent[world.streams.network.below(Math.max(1, world.recent.length))];
  if (old?.from.state === undefined) return;
  const message = alteredMessage(world, old.message);
  if (message === undefined) return;
  const { wire } = world.cryptography;
  const packet = wire.seal(
    old.from.state,
    old.from.keys.identity,
    () => world.streams.entropy.digest(),
    old.to,
    message,
  );
  if (packet !== undefined) world.transmit(old.to, packet, 500, { from: old.from.slot, message, how: "altered" });
};

export const faultTable = {
  "lossy link": (world: World) => forAWhile(world, [anyLink(world)], { loss: 400 }),
  "lossy network": (world: World) =>
    forAWhile(
      world,
      world.network.links(() => true),
      { loss: 150 },
    ),
  "duplicating network": (world: World) =>
    forAWhile(
      world,
      world.network.links(() => true),
      { duplication: 400 },
    ),
  "reordering network": (world: World) =>
    forAWhile(
      world,
      world.network.links(() => true),
      { leastDelay: 50, mostDelay: 60_000 },
    ),
  "slow link": (world: World) => forAWhile(world, [anyLink(world)], { leastDelay: 200_000, mostDelay: 3 * SECOND }),
  "one-way cut": (world: World) => forAWhile(world, [anyLink(world)], { cut: true }, 8 * SECOND),
  partition: (world: World) => {
    const side = 1 + world.streams.network.below(Math.max(1, (1 << world.plan.peers) - 2));
    const isSplit = (from: number, to: number) => ((side >> (from - 1)) & 1) !== ((side >> (to - 1)) & 1);
    forAWhile(world, world.network.links(isSplit), { cut: true }, 12 * SECOND);
  },
  "flapping link": (world: World) => flap(world, anyLink(world), 2 * world.streams.network.between(2, 10)),
  crash: (world: World) => world.crash(anyPeer(world), "process"),
  "crash, bytes visible": (world: World) => world.crash(anyPeer(world), "process, bytes visible"),
  "crash during a flush": (world: World) => world.armCrashDuringFlush(anyPeer(world), "process"),
  "crash during a flush, bytes visible": (world: World) =>
    world.armCrashDuringFlush(anyPeer(world), "process, bytes visible"),
  "power loss during a flush": (world: World) => world.armCrashDuringFlush(anyPeer(world), "power"),
  "crash after a flush": (world: World) => armFlush(world, "durable, unreported"),
  "crash between actions": (world: World) => world.armCrashAfterActions(anyPeer(world), world.streams.crashes.below(5)),
  "power loss": (world: World) => world.crash(anyPeer(world), "power"),
  "power loss everywhere": (world: World) => {
    for (const peer of world.peers) world.crash(peer, "power");
  },
  "crash everywhere": (world: World) => {
    for (const peer of world.peers)
      world.crash(peer, world.streams.crashes.pick(["process", "process, bytes visible"]));
  },
  "failed flush, lost": (world: World) => armFlush(world, "failed, lost"),
  "failed flush, durable": (world: World) => armFlush(world, "failed, durable"),
  "slow disk": (world: World) => {
    const peer = anyPeer(world);
    world.slowDisk(peer, world.streams.disk.between(5, 400));
    world.after(world.streams.disk.between(100_000, 8 * SECOND), () => world.slowDisk(peer, 1));
  },
  seal: sealForAWhile,
  "clock step within bounds": (world: World) =>
    stepClock(world, anyPeer(world), world.streams.clock.between(-1_500, 1_500)),
  "clock step beyond bounds": (world: World) =>
    stepClock(world, anyPeer(world), world.streams.clock.between(-90_000, 90_000)),
  "token keys unavailable": (world: World) => {
    const { slot } = anyPeer(world);
    world.keysUnavailable.add(slot);
    world.after(world.streams.crashes.between(10_000, 3 * SECOND), () => world.keysUnavailable.delete(slot));
  },
  "replayed message": replay,
  "forged envelope": forge,
  "altered message": alter,
  "altered in flight": (world: World) => world.alterNext((message) => alteredMessage(world, message)),
  "damaged row": damageRow,
  "deleted row": deleteRow,
  "repaired rows": repairRows,
} as const;

export type FaultName = keyof typeof faultTable;
export const faultNames = Object.keys(faultTable) as ReadonlyArray<FaultName>;

/** Lets random faults happen, by weight, until the world is healed. */
export const startFaults = (world: World): void => {
  const weighted = faultNames.flatMap((name) => {
    const weight = world.plan.faults.get(name) ?? 0;
    return weight > 0 ? [[name, weight] as const] : [];
  });
  const total = weighted.reduce((sum, [, weight]) => sum + weight, 0);
  if (total === 0) return;
  const { crashes } = world.streams;
  const next = (): void => {
    world.after(crashes.between(1, 2 * world.plan.faultMicros), () => {
      if (world.healed) return;
      let drawn = crashes.below(total);
      const chosen = weighted.find(([, weight]) => (drawn -= weight) < 0);
      if (chosen !== undefined) {
        world.faults.add(chosen[0]);
        faultTable[chosen[0]](world);
      }
      next();
    });
  };
  next();
};
