/** S25: a read answers from what is committed, at once, whatever is waiting, and writes nothing. */
import type { Checker } from "./Checker.ts";
import { type Ghost, maskOf } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

export const S25 = (ghost: Ghost): Checker => ({
  id: "S25",
  read: ({ slot, honest }, { subject, ref, found, transactions }) => {
    if (!honest) return;
    if (transactions > 0)
      throw new Violation("S25", `peer ${slot} was asked to read ${ref}`, `it wrote ${transactions} transaction(s)`);
    const facts = ghost.subjects.get(ref);
    const isHeld = facts !== undefined && (facts.holders & maskOf(slot)) !== 0;
    const revision = found && subject.revisionOf(found);
    const isOther =
      isHeld &&
      found !== undefined &&
      (revision !== facts.revisionAt[slot] || subject.changed(facts.row, found) !== undefined);
    if (isHeld !== (found !== undefined) || isOther)
      throw new Violation(
        "S25",
        `peer ${slot} has ${isHeld ? `revision ${facts.revisionAt[slot]} of` : "not made"} ${subject.name} ${ref} durable`,
        `a read of it gave ${revision === undefined ? "nothing" : `revision ${revision}`}`,
      );
  },
});
