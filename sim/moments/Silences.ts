/** Links that go down, and members that fall silent, when something was just said. */
import { Limits } from "../../core/base/Limits.ts";
import { ACKNOWLEDGEMENTS, silence } from "../faults/SilentMember.ts";
import type { Link } from "../network/Network.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { Nemesis, World } from "../world/World.ts";
import { forSomeSeconds, isolate, isWriter, rarely, SECOND, struck } from "./Moment.ts";

/** Longer than any run. */
const LONGEST_SILENCE = 3_600 * SECOND;

/** The writer's Prepare reaches everybody, and then nothing of the writer does. */
export const isolateWriterAfterPrepare = (): Nemesis => {
  const now = rarely(6 * SECOND);
  return {
    sent: (world, peer, to, message) => {
      const last = Math.max(...(peer.state?.cluster.membership?.peerIds ?? [0]));
      if (message._tag !== "Prepare" || to !== last) return;
      now(world, (unit) => {
        world.marks.add("nothing more came of a writer whose proposal was out");
        world.after(1, () => isolate(world, peer.slot, forSomeSeconds(unit)));
      });
    },
  };
};

/** One member has prepared and can tell no other. */
export const isolateOnePreparer = (): Nemesis => {
  const now = rarely(6 * SECOND);
  return {
    flushed: (world, peer, writes) => {
      if (isWriter(peer) || !writes.some((each) => each.table === "preparations" && each.op === "insert")) return;
      now(world, (unit) => {
        world.marks.add("a member had prepared and could tell nobody");
        isolate(world, peer.slot, forSomeSeconds(unit));
      });
    },
  };
};

/** The last member stands still from the moment a proposal is sent to it until shortly after the first deadline in it. */
export const judgeTooLate = (): Nemesis => {
  const now = rarely(2 * SECOND);
  return {
    sent: (world, _peer, to, message) => {
      if (message._tag !== "Prepare" || to !== world.plan.peers) return;
      const deadline = Math.min(...message.items.map(({ proposal }) => proposal.expiresAt));
      const left = deadline - world.realMillis;
      // Of a proposal that has long to live, the token does not end first.
      if (left < LONG_MILLIS)
        now(world, (unit) => {
          const late = unit.between("past its deadline", 1_000, 0, 2_000);
          world.pauses.pause(world.peer(to), (Math.max(0, left) + late) * 1_000);
        });
    },
  };
};
const LONG_MILLIS = 10_000;

/** From the first preparation or session on, the last member takes part and says nothing of it, until all is healed. */
export const silenceOne = (): Nemesis => {
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

/** The last member votes and applies, and until everything is healed no other hears that it has applied anything. */
export const withholdAcknowledgements = (): Nemesis => ({
  started: (world) => {
    if (struck(world, world.choices.stream("moment").next(), "silent member") === undefined) return;
    silence(world, world.peer(world.plan.peers), LONGEST_SILENCE, ACKNOWLEDGEMENTS);
  },
  sent: (world, { state, settings }) => {
    const { unacknowledged } = settings.capacities;
    if (state !== undefined && state.undecided.outbox.size - state.undecided.prunable >= unacknowledged)
      world.marks.add("as much waits for acknowledgements as may");
  },
});

/** Notes that a member has helped to abort as many proposals at once as it may. */
export const abortedEnough = (): Nemesis => ({
  sent: (world, { state, settings }) => {
    const used = (state?.undecided.abortsUntil ?? 0) - world.scheduler.now / 1_000;
    if (used > (settings.capacities.aborts - 1) * Limits.abortMillis)
      world.marks.add("a member had aborted as much as it may");
  },
});

/** A member that is asked to prepare does not know the keys of tokens yet, and refuses them for a while. */
export const disbelieveTokens = (): Nemesis => {
  const now = rarely(SECOND / 4);
  return {
    sent: (world, _peer, to, message) => {
      if (message._tag !== "Prepare") return;
      now(world, (unit) => {
        world.tokenKeys.unknown.add(to);
        world.after(unit.between("for", 20_000, 1_000, 300_000), () => world.tokenKeys.unknown.delete(to));
      });
    },
  };
};

/** The delay of what is sent over a link in the next moment. */
const hangOn = (world: World, link: Link, micros: number): void => {
  const { leastDelay, mostDelay } = link;
  Object.assign(link, { leastDelay: micros, mostDelay: micros });
  world.after(1_000, () => Object.assign(link, { leastDelay, mostDelay }));
};

/**
 * For a moment the writer does not know the key of tokens and refuses very many, while one request waits: at the
 * writer, behind something held up by a slow member, or at its entry peer, since its forward is lost.
 */
export const refuseBehind = (): Nemesis => {
  const now = rarely(SECOND);
  /** The link on which the next forward is lost. */
  let losing: Link | undefined;

  const refuseFor = (world: World, writer: SimPeer, micros: number): void => {
    world.tokenKeys.unknown.add(writer.slot);
    world.after(micros, () => world.tokenKeys.unknown.delete(writer.slot));
  };

  return {
    sent: (world, peer, to, message) => {
      if (message._tag === "Forward" && losing !== undefined && world.network.link(peer.slot, to) === losing) {
        losing.cut = false;
        losing = undefined;
      }
      if (message._tag !== "Prepare" || to !== world.plan.peers || losing !== undefined) return;
      now(world, (unit) => {
        if (unit.chance("a member is slow", 500))
          hangOn(
            world,
            world.network.link(to, peer.slot),
            unit.between("its answer takes", 1_000_000, 500_000, 2_000_000),
          );
        const micros = unit.between("keys are unknown for", 400_000, 200_000, 600_000);
        world.after(unit.between("they are after", 2_000, 100, 8_000), () => {
          if (world.healed) return;
          refuseFor(world, peer, micros);
          losing = world.network.link(2, peer.slot);
          losing.cut = true;
        });
      });
    },
  };
};

/**
 * The last member has been asked whether it stores an approver, and is slow to answer; meanwhile a replacement is
 * agreed upon, and this member alone does not hear of it.
 */
export const changeWhileAsked = (): Nemesis => {
  const now = rarely(SECOND);
  let askedUntil = 0;
  return {
    sent: (world, peer, to, message) => {
      if (to !== world.plan.peers) return;
      if (message._tag === "StoredQuery" && world.now >= askedUntil)
        now(world, (unit) => {
          const micros = unit.between("its answer takes", 100_000, 20_000, 400_000);
          hangOn(world, world.network.link(to, peer.slot), micros);
          askedUntil = world.now + micros;
        });
      if (message._tag !== "Prepare" || world.now >= askedUntil) return;
      askedUntil = 0;
      world.marks.add("a change was agreed on while a member was asked what it stores");
      const link = world.network.link(peer.slot, to);
      link.cut = true;
      world.after(SECOND, () => {
        link.cut = false;
      });
    },
  };
};
