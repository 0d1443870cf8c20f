/**
 * What was said before a promotion comes again in the middle of it and long afterwards, to whom it was said and to
 * others; and a stranger offers the targets a promotion of its own.
 */
import type { Choices } from "../base/Choices.ts";
import { foreignDraft } from "../faults/ForeignDraft.ts";
import type { SentPacket } from "../world/Mail.ts";
import type { Nemesis } from "../world/World.ts";
import { rarely, SECOND } from "./Moment.ts";

const KEPT = 64;

export const oldEpoch = (choices: Choices): Nemesis => {
  const at = rarely(
    choices.plan("old messages").between("every so many microseconds", SECOND / 10, 10_000, SECOND / 4),
  );
  const kept: Array<SentPacket> = [];
  return {
    sent: (world) => {
      const { promotion, peers } = world.plan;
      const newest = world.mail.recent.at(-1);
      if (promotion === undefined || newest === undefined) return;
      const source = world.peer(promotion.source);
      const { stage } = source.state?.cluster.promotion.own ?? {};
      // The last ones before the decision are about the promotion itself.
      const isBefore = stage === undefined || stage === "PINNED";
      if (isBefore && !kept.includes(newest)) kept[kept.length < KEPT ? kept.length : KEPT - 1] = newest;
      at(world, (unit) => {
        const slot = unit.between("peer", 1, 1, peers);
        if (slot !== source.slot && unit.chance("a stranger's promotion", isBefore ? 700 : 200))
          return foreignDraft(world, unit, source, slot);
        const old = kept[unit.between("packet", 0, 0, Math.max(0, kept.length - 1), 0, KEPT - 1)];
        if (old === undefined || isBefore) return;
        const to = unit.chance("to another", 300) ? slot : old.to;
        world.marks.add("a message of before the promotion came again");
        world.mail.transmit(to, old.packet, 500, { from: old.from.slot, message: old.message, how: "replayed" });
      });
    },
  };
};
