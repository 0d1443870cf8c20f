/** S24: what a peer has on record of an authenticator's counter never decreases. */
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

export const S24 = (ghost: Ghost): Checker => {
  /** By peer and ref. */
  const counters = new Map<string, number>();
  return {
    id: "S24",
    written: {
      // A subject that was on no member's disk may be registered anew.
      restore: ({ slot }) => {
        if (ghost.unitedBy === slot) counters.clear();
      },
      observations: ({ slot, honest }, write) => {
        if (!honest || write.op === "remove") return;
        const name = `${slot} ${write.key}`;
        const known = counters.get(name) ?? 0;
        const { signCount } = write.row;
        if (signCount < known)
          throw new Violation("S24", `peer ${slot} had counter ${known} of ${write.key}`, `it stored ${signCount}`);
        counters.set(name, signCount);
      },
    },
  };
};
