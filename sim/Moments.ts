/** Faults that wait for one moment of the protocol and strike exactly then. */
import { maskOf } from "./Ghost.ts";
import type { Prng } from "./Prng.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { Nemesis, World } from "./World.ts";

const SECOND = 1_000_000;

const isWriter = ({ state }: SimPeer): boolean =>
  state?.membership !== undefined && state.membership.writer === state.peer?.peerId;

const isolate = (world: World, slot: number, micros: number): void => {
  const links = world.network.links((from, to) => from === slot || to === slot);
  for (const link of links) link.cut = true;
  world.after(micros, () => {
    for (const link of links) link.cut = false;
  });
};

/** Runs its body at most once in a while, so that the world gets somewhere in between. */
const rarely = (everyMicros: number): ((world: World, run: () => void) => void) => {
  let next = 0;
  return (world, run) => {
    if (world.now < next) return;
    next = world.now + everyMicros;
    world.faults.add("moment");
    run();
  };
};

/** The writer's Prepare reaches everybody, and then nothing of the writer does. */
const isolateWriterAfterPrepare = (): Nemesis => {
  const now = rarely(6 * SECOND);
  return {
    sent: (world, peer, to, message) => {
      const last = Math.max(...(peer.state?.membership?.peerIds ?? [0]));
      if (message._tag !== "Prepare" || to !== last) return;
      now(world, () => world.after(1, () => isolate(world, peer.slot, world.streams.network.between(1, 5) * SECOND)));
    },
  };
};

/** One member has prepared and can tell nobody. */
const isolateOnePreparer = (): Nemesis => {
  const now = rarely(6 * SECOND);
  return {
    flushed: (world, peer, writes) => {
      if (isWriter(peer) || !writes.some((each) => each.table === "preparations" && each.op === "insert")) return;
      now(world, () => isolate(world, peer.slot, world.streams.network.between(1, 5) * SECOND));
    },
  };
};

/** Every n-th flush of any peer ends in a crash, before it, after it, or with its bytes still volatile. */
const crashAtEverySync = (random: Prng): Nemesis => {
  const every = random.between(2, 12);
  let count = 0;
  return {
    flushed: (world, peer) => {
      if (++count % every !== 0) return;
      world.faults.add("moment");
      const kind = world.streams.crashes.below(4);
      if (kind === 0) world.armFlush(peer, "durable, unreported");
      // Not from inside the flush itself: the driver is about to act on it.
      if (kind === 1) world.armCrashAfterActions(peer, world.streams.crashes.below(4));
      if (kind > 1)
        world.after(world.streams.crashes.between(1, 2_000), () =>
          world.crash(peer, kind === 2 ? "process, bytes visible" : "power"),
        );
    },
  };
};

/** The sender of a Commit crashes after the first of its copies. */
const crashBetweenCommits = (): Nemesis => {
  const now = rarely(4 * SECOND);
  return {
    sent: (world, peer, _to, message) => {
      if (message._tag !== "Commit" || message.certificates.length === 0) return;
      now(world, () => world.armCrashAfterActions(peer, world.streams.crashes.below(2)));
    },
  };
};

/** The writer crashes when its Prepare is out: the evidence is gone, the reservation is not. */
const writerRestartAfterPrepare = (): Nemesis => {
  const now = rarely(4 * SECOND);
  return {
    sent: (world, peer, _to, message) => {
      if (message._tag !== "Prepare") return;
      now(world, () => world.after(world.streams.crashes.between(0, 3_000), () => world.crash(peer, "process")));
    },
  };
};

/** One peer's machine is replaced by an empty one, during the founding or after it. */
const wipeOne = (random: Prng): Nemesis => {
  const afterFlushes = random.between(2, 60);
  let count = 0;
  return {
    flushed: (world) => {
      if (++count !== afterFlushes) return;
      world.faults.add("wiped peer");
      const peer = world.peer(1 + world.streams.crashes.below(world.plan.peers));
      world.after(1, () => {
        world.crash(peer, "power", false);
        peer.wipe();
        world.start(peer);
      });
    },
  };
};

/** One peer comes back on the disk it had a while ago, and does not say so. */
const rollBackOne = (random: Prng): Nemesis => {
  const slots = new Map<number, number>();
  const atFlush = random.between(1, 80);
  const laterMicros = random.pick([2_000, 20_000, 200_000, 2 * SECOND]);
  let restore: (() => void) | undefined;
  return {
    flushed: (world, peer) => {
      const count = (slots.get(peer.slot) ?? 0) + 1;
      slots.set(peer.slot, count);
      if (restore !== undefined || count !== atFlush || peer.state?.membership === undefined) return;
      restore = peer.disk.photograph();
      world.after(world.streams.crashes.between(1, laterMicros), () => {
        if (world.healed) return;
        world.faults.add("disk from an older snapshot");
        world.crash(peer, "power", false);
        restore?.();
        peer.honest = false;
        peer.rolledBack = true;
        world.ghost.forgetful |= maskOf(peer.slot);
        world.start(peer);
      });
    },
  };
};

/** Before anything is initialized: the last peer is given the configuration and the id of the first one. */
const duplicateId = (): Nemesis => ({
  started: (world) => {
    world.faults.add("duplicate id");
    const peer = world.peer(world.plan.peers);
    peer.honest = false;
    peer.peerId = 1;
    const others = Array.from({ length: world.plan.peers - 1 }, (_, index) => index + 2);
    peer.settings = { ...peer.settings, peers: others };
    peer.addresses.clear();
    // It takes the real first peer for the last one.
    for (const peerId of others) peer.addresses.set(peerId, peerId === world.plan.peers ? 1 : peerId);
  },
});

export const moments = {
  isolateWriterAfterPrepare,
  isolateOnePreparer,
  crashAtEverySync,
  crashBetweenCommits,
  writerRestartAfterPrepare,
  wipeOne,
  rollBackOne,
  duplicateId,
} as const;
