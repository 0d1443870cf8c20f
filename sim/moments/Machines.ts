/** Machines that are replaced, set back, damaged, or set up as another one. */
import type { Choices, Unit } from "../base/Choices.ts";
import { PLACES } from "../faults/BitRot.ts";
import { mayForget, RESTORED_AFTER } from "../faults/DeclaredRestore.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { Nemesis, World } from "../world/World.ts";
import { forSomeSeconds, isolate, rarely, SECOND, struck } from "./Moment.ts";

/**
 * A forwarded registration waits at the writer for the others, and the row of its approver is damaged meanwhile: the
 * row is read when its turn comes, and would be again to tell whether it may have been done.
 */
export const damageUnderForward = (): Nemesis => {
  const now = rarely(2 * SECOND);
  return {
    sent: (world, peer, to, message) => {
      if (message._tag === "Outcome" && peer.state?.fitness.integrityFault !== undefined)
        world.marks.add("the writer told a forwarded request of damage");
      if (message._tag !== "Forwarded" || peer.isDamaged || peer.disk.flushing) return;
      const queued = peer.state?.requests.queue.find(
        ({ forward }) => forward.entryPeer === to && forward.requestId === message.requestId,
      );
      const ref = queued?.intent.kind === "REGISTER" ? queued.intent.ref : undefined;
      if (ref === undefined || peer.store.get("approvers", ref) === undefined) return;
      now(world, (unit) => {
        peer.isDamaged = true;
        peer.disk.damage("approvers", ref, unit.between("byte", 0, 0, PLACES));
      });
    },
  };
};

/** The row of a session is damaged as soon as a peer keeps it: the first step of a finish through that peer reads it. */
export const damageUnderFinish = (): Nemesis => {
  const now = rarely(8 * SECOND);
  return {
    flushed: (world, peer, writes) => {
      const kept = writes.find((each) => each.table === "sessions" && each.op === "insert");
      if (kept === undefined || peer.isDamaged) return;
      now(world, (unit) => {
        peer.isDamaged = true;
        world.marks.add("a session was damaged as soon as it was kept");
        peer.disk.damage("sessions", kept.key, unit.between("byte", 0, 0, PLACES));
      });
    },
  };
};

/**
 * Power goes while the writer writes what it reserves, and most of that is on the disk: a receipt that it has signed
 * and never flushed, and usually how far it has used its slots.
 */
export const tearReservation = (): Nemesis => {
  const now = rarely(2 * SECOND);
  return {
    sent: (world, _peer, to, message) => {
      if (message._tag !== "Ready" || to !== world.writerSlot) return;
      const writer = world.peer(to);
      // It reserves what is queued as soon as all are ready.
      if (writer.state === undefined || writer.state.requests.queue.length === 0) return;
      now(world, (unit) =>
        world.flushes.armCrash(writer, "power, torn write", unit.between("per mille of it", 999, 900, 999)),
      );
    },
  };
};

/** One peer's machine is replaced by an empty one, during the founding or after it. */
export const wipeOne = (choices: Choices): Nemesis => {
  const afterFlushes = choices.plan("wiped").between("after flushes", 2, 2, 60);
  let count = 0;
  return {
    flushed: (world) => {
      const unit = struck(world, world.choices.stream("moment").next(), "wiped peer", ++count === afterFlushes);
      if (unit === undefined) return;
      const peer = world.peer(unit.between("peer", 1, 1, world.plan.peers));
      world.after(1, () => {
        world.processes.crash(peer, "power", false);
        peer.wipe();
        world.marks.add("a blank machine stood in for a member");
        world.processes.start(peer);
      });
    },
  };
};

/** One member is gone for good: its machine burns, and is not replaced. */
export const loseOne = (choices: Choices, slot: number): Nemesis => {
  const afterFlushes = choices.plan(`loss of peer ${slot}`).between("after flushes", 1, 1, 40);
  let count = 0;
  return {
    flushed: (world, peer) => {
      if (peer.slot !== slot) return;
      const unit = struck(world, world.choices.stream("moment").next(), "lost peer", ++count === afterFlushes);
      if (unit === undefined) return;
      world.after(1, () => {
        if (world.healed) return;
        world.processes.crash(peer, "power", false);
        peer.honest = false;
        peer.isLost = true;
      });
    },
  };
};

/** One peer comes back on the disk it had a while ago, and does not say so. */
export const rollBackOne = (choices: Choices): Nemesis => {
  const counts = new Map<number, number>();
  const atFlush = choices.plan("photograph").between("at flush", 1, 1, 80);
  let restore: (() => void) | undefined;
  return {
    flushed: (world, peer) => {
      const count = (counts.get(peer.slot) ?? 0) + 1;
      counts.set(peer.slot, count);
      // A mono instance has no witness, and no promise.
      if (world.plan.peers === 1 || restore !== undefined || !peer.honest) return;
      if (peer.state?.cluster.membership === undefined) return;
      const photograph = world.choices.stream(`moment of peer ${peer.slot}`).next();
      const unit = struck(world, photograph, "photograph of a disk", count === atFlush);
      if (unit === undefined) return;
      restore = peer.disk.photograph();
      world.after(unit.spread("restored after", 20_000, RESTORED_AFTER, 1, 2 * SECOND), () => {
        if (world.healed || !mayForget(world, peer)) return;
        world.faults.add("disk from an older snapshot");
        world.marks.add("a peer came back on an older disk and said nothing");
        if (restore !== undefined) world.restores.comeBackOn(peer, restore, false);
      });
    },
  };
};

/**
 * A process is started on the disk that its peer had a while ago, and before the keys are back somebody puts the newest
 * disk in its place: with that one nothing is wrong, and the state was read from another.
 */
export const exchangeDisk = (choices: Choices): Nemesis => {
  const counts = new Map<number, number>();
  const atFlush = choices.plan("exchanged disk").between("at flush", 1, 1, 60);
  let isDone = !choices.plan("exchanged disk").chance("happens", 300);

  const strike = (world: World, peer: SimPeer, putBack: () => void, count: number): void => {
    // With nothing written in between it is the same disk.
    if (world.healed || peer.isDamaged || !peer.isUp || counts.get(peer.slot) === count) return;
    world.processes.crash(peer, "power", false);
    const putNewest = peer.disk.photograph();
    putBack();
    peer.isDamaged = true;
    world.processes.start(peer);
    world.after(1, () => {
      // Healed in this instant, it would run on the disk that it has for an instant.
      if (world.healed) world.processes.crash(peer, "process", false);
      putNewest();
      if (world.healed) return world.processes.start(peer);
      peer.isExchanged = true;
      world.marks.add("the disk of a sealed peer was exchanged");
    });
  };

  return {
    flushed: (world, peer) => {
      const count = (counts.get(peer.slot) ?? 0) + 1;
      counts.set(peer.slot, count);
      if (isDone || count < atFlush || peer.isDamaged || peer.state?.cluster.membership === undefined) return;
      isDone = true;
      const unit = struck(world, world.choices.stream("exchanged disk").next(), "disk exchanged under a sealed peer");
      if (unit === undefined) return;
      const putBack = peer.disk.photograph();
      world.after(unit.spread("started on it after", 20_000, RESTORED_AFTER, 1, 2 * SECOND), () =>
        strike(world, peer, putBack, count),
      );
    },
  };
};

/** What happens around a declared restore, beside the restore itself. */
interface RestorePlan {
  /** How many restores there are: of the same peer, or of any but one. */
  readonly times: number;
  /** One of the others hears nothing for a while, from just before. */
  readonly isHelperLagging?: boolean;
  /** The disks are of before the founding. */
  readonly isEarly?: boolean;
  /** Power goes while the new incarnation is being written, and a part of it is on the disk. */
  readonly isTorn?: boolean;
  /** The first restore waits until so many slots are decided. */
  readonly fromSlots?: number;
}

/**
 * Peers come back on disks they had a while ago, and their operators declare it. One peer, the same for all of the
 * run, is never restored: one must have the registry (protocol.md 1).
 */
export const restoreDeclared = (
  choices: Choices,
  { times, isHelperLagging = false, isEarly = false, isTorn = false, fromSlots = 0 }: RestorePlan,
): Nemesis => {
  const counts = new Map<number, number>();
  const spared = choices.plan("spared").between("peer", 1, 1, 3);
  const atFlush = choices.plan("photograph").between("at flush", 1, 1, 30);
  const photographs = new Map<number, () => void>();
  let left = times;
  let first: SimPeer | undefined;

  const strike = (world: World, unit: Unit, peer: SimPeer): void => {
    const putBack = isEarly ? world.restores.earlyDisk(peer, unit) : photographs.get(peer.slot);
    if (world.healed || putBack === undefined || left === 0 || peer.isDamaged) return;
    left -= 1;
    world.faults.add("disk from an older snapshot, declared");
    if (isEarly) world.marks.add("restored from before the founding");
    if (isHelperLagging) isolate(world, (peer.slot % world.plan.peers) + 1, forSomeSeconds(unit));
    world.restores.comeBackOn(peer, putBack, true);
    // It writes nothing before it is unsealed and begins that incarnation.
    if (isTorn) world.flushes.armCrash(peer, "power, torn write", unit.between("per mille of it", 500, 0, 999));
    // The next one may come in the middle of this one, at the same peer or at another.
    const others = [...photographs.keys()].filter((slot) => slot !== spared);
    const next = others[unit.between("next peer", 0, 0, Math.max(0, others.length - 1), 0, 8)] ?? peer.slot;
    if (left > 0)
      world.after(unit.spread("next after", 100_000, RESTORED_AFTER, 1, 2 * SECOND), () =>
        strike(world, unit, world.peer(next)),
      );
  };

  const photograph = (world: World, peer: SimPeer): void => {
    const count = (counts.get(peer.slot) ?? 0) + 1;
    counts.set(peer.slot, count);
    if (world.plan.peers === 1 || peer.slot === spared || photographs.has(peer.slot) || !peer.honest) return;
    if (peer.state?.cluster.membership === undefined || peer.isDamaged || count < atFlush) return;
    if (photographs.size === 0) first = peer;
    photographs.set(peer.slot, peer.disk.photograph());
  };

  return {
    flushed: (world, flushing) => {
      photograph(world, flushing);
      if (first === undefined || (flushing.state?.undecided.decidedSeq ?? 0) < fromSlots) return;
      const peer = first;
      first = undefined;
      const unit = world.choices.stream("moment").next();
      world.after(unit.spread("restored after", 20_000, RESTORED_AFTER, 1, 2 * SECOND), () =>
        strike(world, unit, peer),
      );
    },
  };
};

/** Before anything is initialized, the last peer is given the configuration and the id of the first one. */
export const duplicateId = (): Nemesis => ({
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

/**
 * Members that have lost nothing are declared to be restored, one after the other: each takes the registry over from
 * whoever helps, a member that lies as well.
 */
export const restoreWithoutLoss = (times: number): Nemesis => ({
  started: (world) => {
    const stream = world.choices.stream("restores without loss");
    const mayBe = (peer: SimPeer): boolean =>
      peer.honest && !peer.isDamaged && peer.state?.cluster.membership !== undefined;
    const strike = (left: number): void => {
      const unit = stream.next();
      world.after(unit.between("declared after", 100_000, 20_000, SECOND), () => {
        if (world.healed || left === 0) return;
        const peer = world.peer(unit.between("peer", 1, 1, world.plan.peers));
        if (mayBe(peer) && world.ghost.recovering === 0) world.restores.declare(peer);
        strike(left - 1);
      });
    };
    strike(times);
  },
});
