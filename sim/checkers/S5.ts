/** S5: what is aborted anywhere has a durable abort vote of every member, and no honest peer ever applies it. */
import type { Digest } from "../../core/Digest.ts";
import type { Checker } from "../Checker.ts";
import { type Ghost, slotsOf } from "../Ghost.ts";
import { Violation } from "../Violation.ts";

export const S5 = (ghost: Ghost): Checker => {
  const assertMayEnd = (slot: number, id: Digest): void => {
    const facts = ghost.proposals.get(id);
    if (facts === undefined)
      throw new Violation("S5", `peer ${slot} aborted proposal ${id}`, "no peer ever prepared or refused it");
    // An acknowledgement of the abort is a vote for it; a pledge made in the same transaction is not seen beside it.
    // Who lies may have sent a vote and not kept it.
    const [silent] = slotsOf(ghost.everyone & ~(facts.refusals | facts.pledges | facts.aborted | ghost.lying));
    if (silent !== undefined)
      throw new Violation("S5", `peer ${slot} aborted proposal ${id}`, `peer ${silent} never voted for its end`);
    const [applier] = slotsOf(facts.applied & ~ghost.lying);
    if (applier !== undefined && ghost.isAtomic)
      throw new Violation("S5", `peer ${slot} aborted proposal ${id}`, `peer ${applier} applied it`);
  };
  return {
    id: "S5",
    written: {
      slots: ({ slot, honest }, write) => {
        if (honest && write.op !== "remove" && write.row.outcome === "ABORTED")
          assertMayEnd(slot, write.row.proposalId);
      },
      strays: ({ slot, honest }, { op, key }) => {
        if (honest && op !== "remove") assertMayEnd(slot, key as Digest);
      },
    },
  };
};
