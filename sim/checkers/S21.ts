/** S21: what a peer has on record of another's incarnation and batches never goes back. */
import type { Rows } from "../../core/Tables.ts";
import type { Checker } from "../Checker.ts";
import { Violation } from "../Violation.ts";

const batchNoOf = ({ newest }: Rows["seen"]): number => newest?.header.batchNo ?? 0;

export const S21 = (): Checker => {
  /** By who recorded it, by whom it is about. */
  const known = new Map<number, Map<number, Rows["seen"]>>();
  const recordsOf = (slot: number): Map<number, Rows["seen"]> => {
    const records = known.get(slot) ?? new Map<number, Rows["seen"]>();
    known.set(slot, records);
    return records;
  };
  return {
    id: "S21",
    written: {
      seen: ({ slot, honest }, write) => {
        if (!honest || write.op === "remove") return;
        const { peerId, incarnation } = write.row;
        const batchNo = batchNoOf(write.row);
        const records = recordsOf(slot);
        const before = records.get(peerId);
        if (
          before !== undefined &&
          (incarnation < before.incarnation || (incarnation === before.incarnation && batchNo < batchNoOf(before)))
        )
          throw new Violation(
            "S21",
            `peer ${slot} had peer ${peerId} on record at ${before.incarnation}.${batchNoOf(before)}`,
            `it now records ${incarnation}.${batchNo}`,
          );
        records.set(peerId, write.row);
      },
    },
  };
};
