/** S22: the batches of a peer are numbered without a gap and each names the hash of the one before. */
import { batchHash } from "../../core/protocol/Statement.ts";
import type { Checker } from "../Checker.ts";
import type { Ghost } from "../Ghost.ts";
import { Violation } from "../Violation.ts";

export const S22 = (ghost: Ghost): Checker => {
  const last = new Map<number, { readonly batchNo: number; readonly hash: string }>();
  return {
    id: "S22",
    flushed: ({ slot, honest }, writes) => {
      if (!honest) return;
      for (const write of writes) {
        if (write.table !== "batches" || write.op === "remove") continue;
        const { header } = write.row;
        const before = last.get(slot) ?? { batchNo: 0, hash: ghost.membership?.digest ?? "" };
        if (header.batchNo !== before.batchNo + 1 || header.prevBatchHash !== before.hash)
          throw new Violation(
            "S22",
            `the newest batch of peer ${slot} was ${before.batchNo} with hash ${before.hash}`,
            `it made batch ${header.batchNo} durable, which names ${header.prevBatchHash} as the one before`,
          );
        last.set(slot, { batchNo: header.batchNo, hash: batchHash(ghost.crypto, header) });
      }
    },
  };
};
