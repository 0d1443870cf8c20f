/** What strikes while keys are made and used: processes that end between two rounds, or between consent and share. */
import type { Choices, Unit } from "../base/Choices.ts";
import type { CrashKind } from "../world/Processes.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { Nemesis, World } from "../world/World.ts";
import { generationIn } from "../models/keys/KeyEffects.ts";
import { rarely, SECOND } from "./Moment.ts";

/** A signer's process ends when its consent is on the disk, and its share is not out or just is. */
export const crashAtConsent = (): Nemesis => {
  const now = rarely(SECOND);
  return {
    flushed: (world, peer, writes) => {
      if (!writes.some(({ table, op }) => table === "consents" && op !== "remove")) return;
      now(world, (unit) => {
        world.marks.add("crashed with a consent on its disk");
        if (unit.chance("its flush is not reported", 500)) world.flushes.armEnd(peer, "durable, unreported");
        else
          world.processes.armCrash(
            peer,
            unit.between("actions later", 0, 0, 2),
            unit.named<CrashKind>("ends by", "process", ["process", "power"], [1, 1]),
          );
      });
    },
  };
};

/** A coordinator's process ends when its packages are out: nobody takes the shares. */
export const crashAtPackage = (): Nemesis => {
  const now = rarely(SECOND);
  return {
    sent: (world, peer, _to, message) => {
      if (message._tag !== "Sign.Package") return;
      now(world, (unit) => {
        world.marks.add("a coordinator ended with its packages out");
        world.after(unit.between("after", 0, 0, 2_000), () => world.processes.crash(peer, "process"));
      });
    },
  };
};

const rounds = ["Keygen.Open", "Keygen.Package", "Keygen.Share", "Keygen.Stored"] as const;

/** Whoever says something of one round of key generations ends then, at times for good measure by power. */
export const crashInRound = (choices: Choices): Nemesis => {
  const round = choices.plan("round").named("of", "Keygen.Stored", rounds, [1, 1, 1, 1]);
  const now = rarely(SECOND);
  return {
    sent: (world, peer, _to, message) => {
      if (message._tag !== round) return;
      now(world, (unit) => {
        world.marks.add(`ended in the round of ${round}`);
        world.processes.armCrash(
          peer,
          unit.between("actions later", 0, 0, 2),
          unit.named<CrashKind>("ends by", "process", ["process", "power"], [1, 1]),
        );
      });
    },
  };
};

/** The writer ends when all have made a key, before or while it is certified. */
export const crashBeforeActivation = (): Nemesis => {
  const now = rarely(SECOND);
  return {
    flushed: (world, peer, writes) => {
      const isMade = writes.some(({ table, op }) => table === "pending" && op !== "remove");
      if (!isMade || peer.slot !== world.writerSlot) return;
      now(world, (unit) => {
        world.marks.add("the writer ended with a key that was not certified");
        world.after(unit.between("after", 1, 1, 4_000), () => world.processes.crash(peer, "process"));
      });
    },
  };
};

/** Whenever a key is proposed all others forget what they made: each is sealed for a moment, or restarted. */
export const forgetWhatIsMade = (): Nemesis => {
  const now = rarely(SECOND);
  /** The newest slot: what is proposed again does not come twice. */
  let newest = 0;
  return {
    sent: (world, writer, _to, message) => {
      if (message._tag !== "Prepare") return;
      const made = message.items.filter(
        ({ proposal }) => proposal.seq > newest && generationIn(proposal) !== undefined,
      );
      if (made.length === 0) return;
      newest = Math.max(...made.map(({ proposal }) => proposal.seq));
      now(world, (unit) => {
        world.marks.add("all others forgot what was being made");
        for (const peer of world.peers) if (peer !== writer) forget(world, unit, peer);
      });
    },
  };
};

const forget = (world: World, unit: Unit, peer: SimPeer): void => {
  if (!unit.chance(`seals peer ${peer.slot}`, 700)) return world.processes.crash(peer, "process");
  world.operators.seal(peer);
  const later = unit.between(`unseals peer ${peer.slot} after`, 150_000, 50_000, SECOND);
  world.after(later, () => world.operators.unseal(peer));
};

/** A member ends that has applied the sharing of a key that it alone had, before it erases the whole of it. */
export const crashBeforeErasure = (): Nemesis => {
  const now = rarely(SECOND);
  return {
    flushed: (world, peer, writes) => {
      const isShared = writes.some(
        (write) =>
          write.table === "generations" &&
          write.op !== "remove" &&
          write.row.state === "SUPERSEDED" &&
          write.row.group.verifyingShares.length === 0 &&
          peer.store.get("shares", write.key) !== undefined,
      );
      if (!isShared || (peer.state?.cluster.membership?.peerIds.length ?? 0) < 2) return;
      now(world, (unit) => {
        world.marks.add("ended between sharing a key and erasing it");
        world.processes.armCrash(
          peer,
          unit.between("actions later", 0, 0, 2),
          unit.named<CrashKind>("ends by", "process", ["process", "power"], [1, 1]),
        );
      });
    },
  };
};
