/** Steps of a promotion at which a process ends: any step, at any peer, before any of its actions. */
import type { Choices } from "../base/Choices.ts";
import type { Write } from "../../core/Tables.ts";
import type { CrashKind } from "../world/Processes.ts";
import type { Nemesis } from "../world/World.ts";
import { SECOND, struck } from "./Moment.ts";

const steps: ReadonlySet<string> = new Set([
  "promotion",
  "transfer",
  "topology",
  "restore",
  "readable",
  "certificates",
]);

/** Whether a transaction is one of a promotion: a step of it, or a page of the registry on its way. */
export const isStep = (writes: ReadonlyArray<Write>): boolean =>
  writes.some(({ table }) => steps.has(table) && table !== "certificates") ||
  (writes.some(({ table }) => table === "certificates") && !writes.some(({ table }) => table === "batches"));

/** Every n-th step of a promotion ends in a crash of its peer. */
export const crashWhilePromoting = (choices: Choices): Nemesis => {
  const every = choices.plan("steps per crash").between("steps", 3, 1, 4);
  let count = 0;
  return {
    flushed: (world, peer, writes) => {
      if (!isStep(writes)) return;
      const unit = struck(world, world.choices.stream("moment").next(), "moment", ++count % every === 0);
      if (unit === undefined) return;
      world.marks.add("crashed at a step of a promotion");
      if (unit.chance("before its flush is reported", 300)) world.flushes.armEnd(peer, "durable, unreported");
      else
        world.processes.armCrash(
          peer,
          unit.between("actions later", 0, 0, 4),
          unit.named<CrashKind>("ends by", "process", ["process", "power"], [1, 1]),
        );
    },
  };
};

/** For some seconds a target hears nothing, from the moment at which the source tells it this. */
export const deafTarget = (choices: Choices): Nemesis => {
  const tag = choices
    .plan("deaf to")
    .named("message", "Promotion.Decided", ["Promotion.Draft", "Promotion.Decided"], [1, 1]);
  let isOver = false;
  return {
    sent: (world, peer, to, message) => {
      if (isOver || message._tag !== tag) return;
      isOver = true;
      const unit = struck(world, world.choices.stream("moment").next(), "moment");
      if (unit === undefined) return;
      const links = world.network.links((from, other) => from === peer.slot && other === to);
      for (const link of links) link.cut = true;
      world.after(unit.between("for seconds", 1, 1, 8) * SECOND, () => {
        for (const link of links) link.cut = false;
      });
    },
  };
};
