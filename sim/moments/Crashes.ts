/** Processes that end at the worst moment. */
import type { Choices } from "../base/Choices.ts";
import type { Nemesis } from "../world/World.ts";
import type { CrashKind } from "../world/Processes.ts";
import { isolate, rarely, SECOND, struck } from "./Moment.ts";

const endsAtSync = ["before its flush is reported", "soon", "later, bytes visible", "later, by power"] as const;

/** Every n-th flush of any peer ends in a crash, before it, after it, or with its bytes still volatile. */
export const crashAtEverySync = (choices: Choices): Nemesis => {
  const every = choices.plan("flushes per crash").between("flushes", 12, 2, 12);
  let count = 0;
  return {
    flushed: (world, peer) => {
      const unit = struck(world, world.choices.stream("moment").next(), "moment", ++count % every === 0);
      if (unit === undefined) return;
      const how = unit.named("how", "soon", endsAtSync, [1, 1, 1, 1]);
      if (how === "before its flush is reported") world.flushes.armEnd(peer, "durable, unreported");
      // Not from inside the flush itself: the driver is about to act on it.
      else if (how === "soon")
        world.processes.armCrash(
          peer,
          unit.between("actions later", 0, 0, 3),
          unit.named<CrashKind>("ends by", "process", ["process", "power"], [1, 1]),
        );
      else
        world.after(unit.between("after", 1, 1, 2_000), () =>
          world.processes.crash(peer, how === "later, by power" ? "power" : "process, bytes visible"),
        );
    },
  };
};

/** The sender of a Commit crashes after the first of its copies. */
export const crashBetweenCommits = (): Nemesis => {
  const now = rarely(4 * SECOND);
  return {
    sent: (world, peer, _to, message) => {
      if (message._tag !== "Commit" || message.certificates.length === 0) return;
      now(world, (unit) =>
        world.processes.armCrash(
          peer,
          unit.between("actions later", 0, 0, 1),
          unit.named<CrashKind>("ends by", "process", ["process", "power"], [1, 1]),
        ),
      );
    },
  };
};

/**
 * The writer crashes when its Prepare is out: the evidence is gone, the reservation is not. At times the others never
 * get it: then the evidence is gone everywhere, and the writer has to ask for an end.
 */
export const writerRestartAfterPrepare = (): Nemesis => {
  const now = rarely(4 * SECOND);
  return {
    sent: (world, peer, _to, message) => {
      if (message._tag !== "Prepare") return;
      now(world, (unit) => {
        if (unit.chance("nobody else gets it", 500)) isolate(world, peer.slot, 4_000);
        world.after(unit.between("after", 0, 0, 3_000), () => world.processes.crash(peer, "process"));
      });
    },
  };
};

/** A member that has just reserved a response crashes before any member has applied it. */
export const crashReserved = (): Nemesis => {
  const now = rarely(2 * SECOND);
  return {
    flushed: (world, peer, writes) => {
      const isReserved = writes.some(
        (each) => each.table === "preparations" && each.op === "insert" && each.row.proposal.kind === "FINISH",
      );
      if (!isReserved) return;
      now(world, (unit) => {
        world.marks.add("crashed with a response reserved");
        world.after(unit.between("after", 1, 1, 2_000), () => world.processes.crash(peer, "process"));
      });
    },
  };
};
