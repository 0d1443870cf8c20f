/** S21: what a peer has on record of another's incarnation and batches never goes back. */
import type { Checker } from "../Checker.ts";
import { Violation } from "../Violation.ts";

export const S21 = (): Checker => {
  const known = new Map<string, { readonly incarnation: number; readonly batchNo: number }>();
  return {
    id: "S21",
    flushed: ({ slot, honest }, writes) => {
      if (!honest) return;
      for (const write of writes) {
        if (write.table !== "seen" || write.op === "remove") continue;
        const { peerId, incarnation, batchNo } = write.row;
        const before = known.get(`${slot}/${peerId}`);
        if (
          before !== undefined &&
          (incarnation < before.incarnation || (incarnation === before.incarnation && batchNo < before.batchNo))
        )
          throw new Violation(
            "S21",
            `peer ${slot} had peer ${peerId} on record at ${before.incarnation}.${before.batchNo}`,
            `it now records ${incarnation}.${batchNo}`,
          );
        known.set(`${slot}/${peerId}`, { incarnation, batchNo });
      }
    },
  };
};
