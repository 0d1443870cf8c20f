/** S12: descriptor and creation time of a stored subject never change and are the same everywhere; none vanishes. */
import type { Checker } from "./Checker.ts";
import { type Ghost, maskOf } from "./Ghost.ts";
import { rowAt } from "../models/Product.ts";
import { ofSubjects } from "./SubjectHooks.ts";
import { Violation } from "../base/Violation.ts";

export const S12 = (ghost: Ghost): Checker => ({
  id: "S12",
  written: ofSubjects(ghost.product, (subject) => ({ slot, honest }, write) => {
    if (!honest) return;
    if (write.op === "remove")
      throw new Violation("S12", `${subject.name} ${write.key} was stored`, `peer ${slot} removed it`);
    const known = ghost.subjects.get(write.key)?.row;
    const differs = known && known !== write.row ? subject.changed(known, write.row) : undefined;
    if (differs !== undefined)
      throw new Violation(
        "S12",
        `${subject.name} ${write.key} was stored first with another ${differs}`,
        `peer ${slot} stored it with its own`,
      );
  }),
  swept: (peers) => {
    for (const peer of peers) {
      if (!peer.honest || peer.isDamaged) continue;
      for (const [ref, { subject, holders }] of ghost.subjects)
        if ((holders & maskOf(peer.slot)) !== 0 && rowAt(peer.store, subject, ref) === undefined)
          throw new Violation(
            "S12",
            `peer ${peer.slot} made ${subject.name} ${ref} durable`,
            "it is not there any more",
          );
    }
  },
});
