/** S14: who is told of a success is told the truth: every member has it, durably. */
import type { Checker } from "../Checker.ts";
import { type Ghost, maskOf, slotsOf } from "../Ghost.ts";
import { Violation } from "../Violation.ts";

export const S14 = (ghost: Ghost): Checker => {
  let exempt = 0;
  return {
    id: "S14",
    stepped: ({ slot, honest }) => {
      if (!honest) exempt |= maskOf(slot);
    },
    replied: ({ slot }, { requestId, answer }) => {
      if (answer._tag !== "Registered" || ghost.isLying(slot)) return;
      const facts = ghost.approvers.get(answer.approver.ref);
      const missing = ghost.everyone & ~exempt & ~(facts?.holders ?? 0);
      if (missing !== 0)
        throw new Violation(
          "S14",
          `peer ${slot} answered request ${requestId} with success for ${answer.approver.ref}`,
          `it is not durable at every member (missing at ${slotsOf(missing).join(", ")})`,
        );
    },
  };
};
