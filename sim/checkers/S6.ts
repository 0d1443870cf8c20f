/** S6: in one slot an honest peer signs a receipt for one proposal, and one proposal is applied anywhere. */
import type { Digest } from "../../core/Digest.ts";
import type { Checker } from "../Checker.ts";
import type { Ghost } from "../Ghost.ts";
import { Violation } from "../Violation.ts";

export const S6 = (ghost: Ghost): Checker => {
  const signed = Array.from({ length: ghost.total + 1 }, () => new Map<number, Digest>());
  const applied = new Map<number, Digest>();
  const bind = (slots: Map<number, Digest> | undefined, seq: number, id: Digest, what: string): void => {
    const known = slots?.get(seq);
    if (known !== undefined && known !== id)
      throw new Violation(
        "S6",
        `${what} proposal ${known} in slot ${seq}`,
        `${what} proposal ${id} in slot ${seq} too`,
      );
    slots?.set(seq, id);
  };
  return {
    id: "S6",
    written: {
      // What the old life signed binds it no more.
      restore: ({ slot }) => signed[slot]?.clear(),
      preparations: ({ slot, honest }, write) => {
        if (honest && write.op !== "remove")
          bind(signed[slot], write.row.proposal.seq, write.key as Digest, `peer ${slot} signed a RECEIPT for`);
      },
      certificates: ({ honest }, write) => {
        if (honest && write.op !== "remove")
          bind(applied, write.row.proposal.seq, write.key as Digest, "some peer applied");
      },
    },
  };
};
