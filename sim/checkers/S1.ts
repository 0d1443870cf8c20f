/** S1: no honest peer has both a RECEIPT and a REFUSAL of one proposal. */
import type { Digest } from "../../core/Digest.ts";
import type { Checker } from "../Checker.ts";
import { type Ghost, maskOf } from "../Ghost.ts";
import { Violation } from "../Violation.ts";

export const S1 = (ghost: Ghost): Checker => ({
  id: "S1",
  flushed: ({ slot, honest }, writes) => {
    if (!honest) return;
    for (const { table, key, op } of writes) {
      if (op === "remove" || (table !== "preparations" && table !== "refusals")) continue;
      const facts = ghost.proposals.get(key as Digest);
      if (facts !== undefined && (facts.receipts & facts.refusals & maskOf(slot)) !== 0)
        throw new Violation(
          "S1",
          `peer ${slot} has a durable RECEIPT of proposal ${key}`,
          `peer ${slot} has a durable REFUSAL of it too`,
        );
    }
  },
});
