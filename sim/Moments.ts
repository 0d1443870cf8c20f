/**
 * Faults that wait for one moment of the protocol and strike exactly then. Each
 * moment is a unit, and that nothing strikes there is its quiet value; where a
 * moment is every so many flushes, every flush is one, so that which of them
 * strikes can be said without the number.
 */
import { requestKey } from "../core/protocol/Forward.ts";
import type { Message, MessageOf } from "../core/protocol/Message.ts";
import type { Choices, Unit } from "./Choices.ts";
import { PLACES } from "./faults/BitRot.ts";
import { mayForget, RESTORED_AFTER } from "./faults/DeclaredRestore.ts";
import { silence } from "./faults/SilentMember.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { CrashKind, Nemesis, SentPacket, World } from "./World.ts";

const SECOND = 1_000_000;

/** Longer than any run. */
const LONGEST_SILENCE = 3_600 * SECOND;

const isWriter = ({ state }: SimPeer): boolean =>
  state?.membership !== undefined && state.membership.writer === state.peer?.peerId;

const isolate = (world: World, slot: number, micros: number): void => {
  const links = world.network.links((from, to) => from === slot || to === slot);
  for (const link of links) link.cut = true;
  world.after(micros, () => {
    for (const link of links) link.cut = false;
  });
};

/** The unit, where something strikes at this moment. */
const struck = (world: World, unit: Unit, fault: string, isDue = true): Unit | undefined => {
  if (!unit.chance("strikes", isDue ? 1000 : 0)) return undefined;
  world.faults.add(fault);
  return unit;
};

/** Runs its body at most once in a while, so that the world gets somewhere in between. */
const rarely = (everyMicros: number): ((world: World, run: (unit: Unit) => void) => void) => {
  let next = 0;
  return (world, run) => {
    if (world.now < next) return;
    next = world.now + everyMicros;
    const unit = struck(world, world.choices.stream("moment").next(), "moment");
    if (unit !== undefined) run(unit);
  };
};

const forSomeSeconds = (unit: Unit): number => unit.between("for seconds", 1, 1, 5) * SECOND;

/** The writer's Prepare reaches everybody, and then nothing of the writer does. */
const isolateWriterAfterPrepare = (): Nemesis => {
  const now = rarely(6 * SECOND);
  return {
    sent: (world, peer, to, message) => {
      const last = Math.max(...(peer.state?.membership?.peerIds ?? [0]));
      if (message._tag !== "Prepare" || to !== last) return;
      now(world, (unit) => world.after(1, () => isolate(world, peer.slot, forSomeSeconds(unit))));
    },
  };
};

/** One member has prepared and can tell nobody. */
const isolateOnePreparer = (): Nemesis => {
  const now = rarely(6 * SECOND);
  return {
    flushed: (world, peer, writes) => {
      if (isWriter(peer) || !writes.some((each) => each.table === "preparations" && each.op === "insert")) return;
      now(world, (unit) => isolate(world, peer.slot, forSomeSeconds(unit)));
    },
  };
};

/** From the first preparation or session on the last member takes part and says nothing of it, until everything is healed. */
const silenceOne = (): Nemesis => {
  let isSilent = false;
  return {
    flushed: (world, _peer, writes) => {
      if (isSilent || !writes.some(({ table }) => table === "preparations" || table === "sessions")) return;
      if (struck(world, world.choices.stream("moment").next(), "silent member") === undefined) return;
      isSilent = true;
      silence(world, world.peer(world.plan.peers), LONGEST_SILENCE);
    },
  };
};

const endsAtSync = ["before its flush is reported", "soon", "later, bytes visible", "later, by power"] as const;

/** Every n-th flush of any peer ends in a crash, before it, after it, or with its bytes still volatile. */
const crashAtEverySync = (choices: Choices): Nemesis => {
  const every = choices.plan("flushes per crash").between("flushes", 12, 2, 12);
  let count = 0;
  return {
    flushed: (world, peer) => {
      const unit = struck(world, world.choices.stream("moment").next(), "moment", ++count % every === 0);
      if (unit === undefined) return;
      const how = unit.named("how", "soon", endsAtSync, [1, 1, 1, 1]);
      if (how === "before its flush is reported") world.armFlush(peer, "durable, unreported");
      // Not from inside the flush itself: the driver is about to act on it.
      else if (how === "soon")
        world.armCrashAfterActions(
          peer,
          unit.between("actions later", 0, 0, 3),
          unit.named<CrashKind>("ends by", "process", ["process", "power"], [1, 1]),
        );
      else
        world.after(unit.between("after", 1, 1, 2_000), () =>
          world.crash(peer, how === "later, by power" ? "power" : "process, bytes visible"),
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
      now(world, (unit) =>
        world.armCrashAfterActions(
          peer,
          unit.between("actions later", 0, 0, 1),
          unit.named<CrashKind>("ends by", "process", ["process", "power"], [1, 1]),
        ),
      );
    },
  };
};

/** The writer crashes when its Prepare is out: the evidence is gone, the reservation is not. */
const writerRestartAfterPrepare = (): Nemesis => {
  const now = rarely(4 * SECOND);
  return {
    sent: (world, peer, _to, message) => {
      if (message._tag !== "Prepare") return;
      now(world, (unit) => world.after(unit.between("after", 0, 0, 3_000), () => world.crash(peer, "process")));
    },
  };
};

/** Whether a message tells an entry peer that a request was refused for the state of the cluster, for certain. */
const isCertainNo = (message: Message): message is MessageOf<"Outcome"> =>
  message._tag === "Outcome" &&
  message.outcome._tag === "Rejected" &&
  message.outcome.rejection.code === "APPROVER_REPLICATION_UNAVAILABLE" &&
  !message.outcome.rejection.outcomeUnknown;

/**
 * The packet in which a peer forwarded a replacement lately. A registration that was turned away nobody reads; the
 * revision that a replacement makes is shown to whoever reads its approver.
 */
const forwardedReplacement = ({ recent }: World, from: number, requestId: string): SentPacket | undefined =>
  recent.findLast(
    (each) =>
      each.from.slot === from &&
      each.message._tag === "Forward" &&
      each.message.forward.requestId === requestId &&
      each.message.forward.call.method === "PUT",
  );

/**
 * The writer turns a forwarded replacement away for certain and crashes when it has said so. One more copy of the
 * request was still on its way: it arrives as soon as the next process prepares something, so before anybody else has
 * replaced that revision, and when nothing but the age of the copy speaks against it (decision 0009).
 */
const copyAfterRestart = (): Nemesis => {
  const now = rarely(SECOND);
  let late: { readonly sent: SentPacket; readonly process: number; readonly unit: Unit } | undefined;

  const arrive = (world: World): void => {
    if (late === undefined) return;
    const { sent, unit } = late;
    late = undefined;
    world.marks.add("a copy of a refused request came to the writer's next process");
    world.transmit(sent.to, sent.packet, unit.between("the copy arrives after", 1_000, 1, 20_000), {
      from: sent.from.slot,
      message: sent.message,
      how: "replayed",
    });
  };

  return {
    sent: (world, peer, to, message) => {
      if (late !== undefined) {
        if (message._tag === "Prepare" && peer.process !== late.process) arrive(world);
        return;
      }
      if (!isCertainNo(message)) return;
      const sent = forwardedReplacement(world, to, message.requestId);
      if (sent === undefined) return;
      now(world, (unit) => {
        late = { sent, process: peer.process, unit };
        world.after(unit.between("after", 1, 1, 1_000), () => world.crash(peer, "process"));
      });
    },
  };
};

/** Keeps a peer sealed as long as it is asked for, whoever unseals it meanwhile. */
const keepSealed = (world: World, peer: SimPeer, isAskedFor: () => boolean): void => {
  if (world.healed) return;
  if (!isAskedFor()) return world.unseal(peer);
  world.seal(peer);
  world.after(SECOND / 20, () => keepSealed(world, peer, isAskedFor));
};

/**
 * A member is sealed, and the writer turns a forwarded replacement away for certain, and then so many other requests
 * that it remembers it no longer. One more copy of it arrives as soon as something is prepared again (decision 0009).
 */
const copyAfterStorm = (): Nemesis => {
  const now = rarely(6 * SECOND);
  let sealedUntil = 0;
  let late: { readonly sent: SentPacket; readonly key: string; readonly unit: Unit } | undefined;

  const isRemembered = (writer: SimPeer): boolean =>
    late !== undefined && writer.state?.turnedAway.has(late.key) === true;

  const arrive = (world: World): void => {
    if (late === undefined) return;
    const { sent, unit } = late;
    late = undefined;
    world.marks.add("a copy came of a request whose refusal the writer had forgotten");
    world.transmit(sent.to, sent.packet, unit.between("the copy arrives after", 1_000, 1, 20_000), {
      from: sent.from.slot,
      message: sent.message,
      how: "replayed",
    });
  };

  return {
    sent: (world, peer, to, message) => {
      if (message._tag === "Prepare") {
        if (late !== undefined) return isRemembered(peer) ? undefined : arrive(world);
        // Before there is anything to replace, nobody can be turned away.
        if (message.items.every(({ proposal }) => proposal.kind !== "METADATA")) return;
        return now(world, (unit) => {
          // What was out already holds up the next round for a second.
          sealedUntil = world.now + 3 * SECOND;
          const sealed = world.peer(unit.between("sealed peer", world.plan.peers, 2, world.plan.peers));
          keepSealed(world, sealed, () => isRemembered(peer) || world.now < sealedUntil);
        });
      }
      if (late !== undefined || !isCertainNo(message)) return;
      const sent = forwardedReplacement(world, to, message.requestId);
      if (sent === undefined) return;
      late = {
        sent,
        key: requestKey({ entryPeer: to, requestId: message.requestId }),
        unit: world.choices.stream("moment").next(),
      };
    },
  };
};

/**
 * A registration that was forwarded waits at the writer for the others, and the row of its approver is damaged under
 * it: the row is read when its turn comes, and would be again to tell whether it may have been done.
 */
const damageUnderForward = (): Nemesis => {
  const now = rarely(2 * SECOND);
  return {
    sent: (world, peer, to, message) => {
      if (message._tag === "Outcome" && peer.state?.integrityFault !== undefined)
        world.marks.add("the writer told a forwarded request of damage");
      if (message._tag !== "Forwarded" || peer.isDamaged || peer.disk.flushing) return;
      const queued = peer.state?.queue.find(
        ({ forward }) => forward.entryPeer === to && forward.requestId === message.requestId,
      );
      const ref = queued?.mutation.kind === "REGISTER" ? queued.mutation.ref : undefined;
      if (ref === undefined || peer.store.get("approvers", ref) === undefined) return;
      now(world, (unit) => {
        peer.isDamaged = true;
        peer.disk.damage("approvers", ref, unit.between("byte", 0, 0, PLACES));
      });
    },
  };
};

/** A member that is asked to prepare has not heard of the keys yet that tokens are signed with: it refuses them for a while. */
const disbelieveTokens = (): Nemesis => {
  const now = rarely(SECOND / 4);
  return {
    sent: (world, _peer, to, message) => {
      if (message._tag !== "Prepare") return;
      now(world, (unit) => {
        world.keysUnknown.add(to);
        world.after(unit.between("for", 20_000, 1_000, 300_000), () => world.keysUnknown.delete(to));
      });
    },
  };
};

/** A member crashes that has just reserved a response, before anybody has applied it. */
const crashReserved = (): Nemesis => {
  const now = rarely(2 * SECOND);
  return {
    flushed: (world, peer, writes) => {
      const isReserved = writes.some(
        (each) => each.table === "preparations" && each.op === "insert" && each.row.proposal.kind === "FINISH",
      );
      if (!isReserved) return;
      now(world, (unit) => {
        world.marks.add("crashed with a response reserved");
        world.after(unit.between("after", 1, 1, 2_000), () => world.crash(peer, "process"));
      });
    },
  };
};

/** One peer's machine is replaced by an empty one, during the founding or after it. */
const wipeOne = (choices: Choices): Nemesis => {
  const afterFlushes = choices.plan("wiped").between("after flushes", 2, 2, 60);
  let count = 0;
  return {
    flushed: (world) => {
      const unit = struck(world, world.choices.stream("moment").next(), "wiped peer", ++count === afterFlushes);
      if (unit === undefined) return;
      const peer = world.peer(unit.between("peer", 1, 1, world.plan.peers));
      world.after(1, () => {
        world.crash(peer, "power", false);
        peer.wipe();
        world.start(peer);
      });
    },
  };
};

/** One member is gone for good: its machine burns, and nobody replaces it. */
const loseOne = (choices: Choices, slot: number): Nemesis => {
  const afterFlushes = choices.plan(`loss of peer ${slot}`).between("after flushes", 1, 1, 40);
  let count = 0;
  return {
    flushed: (world, peer) => {
      if (peer.slot !== slot) return;
      const unit = struck(world, world.choices.stream("moment").next(), "lost peer", ++count === afterFlushes);
      if (unit === undefined) return;
      world.after(1, () => {
        if (world.healed) return;
        world.crash(peer, "power", false);
        peer.honest = false;
        peer.isLost = true;
      });
    },
  };
};

/** One peer comes back on the disk it had a while ago, and does not say so. */
const rollBackOne = (choices: Choices): Nemesis => {
  const counts = new Map<number, number>();
  const atFlush = choices.plan("photograph").between("at flush", 1, 1, 80);
  let restore: (() => void) | undefined;
  return {
    flushed: (world, peer) => {
      const count = (counts.get(peer.slot) ?? 0) + 1;
      counts.set(peer.slot, count);
      // A mono instance has no witness, and no promise.
      if (world.plan.peers === 1 || restore !== undefined || !peer.honest) return;
      if (peer.state?.membership === undefined) return;
      const photograph = world.choices.stream(`moment of peer ${peer.slot}`).next();
      const unit = struck(world, photograph, "photograph of a disk", count === atFlush);
      if (unit === undefined) return;
      restore = peer.disk.photograph();
      world.after(unit.spread("restored after", 20_000, RESTORED_AFTER, 1, 2 * SECOND), () => {
        if (world.healed || !mayForget(world, peer)) return;
        world.faults.add("disk from an older snapshot");
        if (restore !== undefined) world.comeBackOn(peer, restore, false);
      });
    },
  };
};

/** What happens around a declared restore, beside the restore itself. */
interface RestorePlan {
  /** How many restores there are: of the same peer, or of any but one. */
  readonly times: number;
  /** One of the others hears nothing for a while, from just before. */
  readonly isHelperLagging?: boolean;
}

/**
 * Peers come back on disks they had a while ago, and their operators say so. One peer, the same for all of the run,
 * is never restored: somebody must have the registry (protocol.md 1).
 */
const restoreDeclared = (choices: Choices, { times, isHelperLagging = false }: RestorePlan): Nemesis => {
  const counts = new Map<number, number>();
  const spared = choices.plan("spared").between("peer", 1, 1, 3);
  const atFlush = choices.plan("photograph").between("at flush", 1, 1, 30);
  const photographs = new Map<number, () => void>();
  let left = times;

  const strike = (world: World, unit: Unit, peer: SimPeer): void => {
    const putBack = photographs.get(peer.slot);
    if (world.healed || putBack === undefined || left === 0 || peer.isDamaged) return;
    left -= 1;
    world.faults.add("disk from an older snapshot, declared");
    if (isHelperLagging) isolate(world, (peer.slot % world.plan.peers) + 1, forSomeSeconds(unit));
    world.comeBackOn(peer, putBack, true);
    // The next one may come in the middle of this one, at the same peer or at another.
    const others = [...photographs.keys()].filter((slot) => slot !== spared);
    const next = others[unit.between("next peer", 0, 0, Math.max(0, others.length - 1), 0, 8)] ?? peer.slot;
    if (left > 0)
      world.after(unit.spread("next after", 100_000, RESTORED_AFTER, 1, 2 * SECOND), () =>
        strike(world, unit, world.peer(next)),
      );
  };

  return {
    flushed: (world, peer) => {
      const count = (counts.get(peer.slot) ?? 0) + 1;
      counts.set(peer.slot, count);
      if (world.plan.peers === 1 || peer.slot === spared || photographs.has(peer.slot) || !peer.honest) return;
      if (peer.state?.membership === undefined || peer.isDamaged || count < atFlush) return;
      const isFirst = photographs.size === 0;
      photographs.set(peer.slot, peer.disk.photograph());
      if (!isFirst) return;
      const unit = world.choices.stream("moment").next();
      world.after(unit.spread("restored after", 20_000, RESTORED_AFTER, 1, 2 * SECOND), () =>
        strike(world, unit, peer),
      );
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
  copyAfterRestart,
  copyAfterStorm,
  crashReserved,
  damageUnderForward,
  disbelieveTokens,
  silenceOne,
  wipeOne,
  loseOne,
  rollBackOne,
  restoreDeclared,
  duplicateId,
} as const;
