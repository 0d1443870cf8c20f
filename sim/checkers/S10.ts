/** S10: no peer holds more than 256 uncommitted preparations. */
import { Limits } from "../../core/Limits.ts";
import type { Checker } from "../Checker.ts";
import type { Ghost } from "../Ghost.ts";
import { Violation } from "../Violation.ts";

export const S10 = (ghost: Ghost): Checker => ({
  id: "S10",
  flushed: ({ slot, honest }) => {
    const { size } = ghost.openAt(slot);
    if (honest && size > Limits.preparations)
      throw new Violation(
        "S10",
        `peer ${slot} has ${size} uncommitted preparations`,
        `it may have ${Limits.preparations}`,
      );
  },
});
