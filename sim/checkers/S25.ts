/** S25: a read answers from what is committed, at once, whatever is waiting, and writes nothing. */
import type { Checker } from "../Checker.ts";
import { type Ghost, maskOf } from "../Ghost.ts";
import { Violation } from "../Violation.ts";

export const S25 = (ghost: Ghost): Checker => ({
  id: "S25",
  read: ({ slot, honest }, { ref, found, transactions }) => {
    if (!honest) return;
    if (transactions > 0)
      throw new Violation("S25", `peer ${slot} was asked to read ${ref}`, `it wrote ${transactions} transaction(s)`);
    const facts = ghost.approvers.get(ref);
    const isHeld = facts !== undefined && (facts.holders & maskOf(slot)) !== 0;
    const isOther = isHeld && (found?.descriptor !== facts.row.descriptor || found.revision !== facts.revisionAt[slot]);
    if (isHeld !== (found !== undefined) || isOther)
      throw new Violation(
        "S25",
        `peer ${slot} has ${isHeld ? `revision ${facts.revisionAt[slot]} of` : "not made"} approver ${ref} durable`,
        `a read of it gave ${found === undefined ? "nothing" : `revision ${found.revision}`}`,
      );
  },
});
