/** S31: nothing durable is raised by bytes that their owner did not sign; nothing about a proposal without its writer's receipt. */
import type { Digest } from "../../core/Digest.ts";
import type { Checker } from "../Checker.ts";
import { type Ghost, maskOf } from "../Ghost.ts";
import { batchHash } from "../../core/protocol/Statement.ts";
import { Violation } from "../Violation.ts";

export const S31 = (ghost: Ghost): Checker => {
  const highest = new Map<number, number>();
  const writersSeq = { highest: 0 };
  return {
    id: "S31",
    flushed: ({ slot, honest }, writes) => {
      if (!honest) return;
      for (const write of writes) {
        if (write.op === "remove") continue;
        if (write.table === "preparations" || write.table === "refusals") {
          const writer = ghost.membership?.writer ?? 0;
          const facts = ghost.proposals.get(write.key as Digest);
          if (facts === undefined || (facts.receipts & maskOf(writer)) === 0)
            throw new Violation(
              "S31",
              `peer ${slot} wrote ${write.table} about proposal ${write.key}`,
              `the writer, peer ${writer}, never made a RECEIPT of it durable`,
            );
          writersSeq.highest = Math.max(writersSeq.highest, facts.proposal.seq);
        }
        if (write.table === "certificates") writersSeq.highest = Math.max(writersSeq.highest, write.row.proposal.seq);
        if (write.table === "seen") {
          const { peerId, batchNo, batchHash: hash } = write.row;
          const header = ghost.batch(peerId, batchNo);
          const signed =
            header === undefined
              ? batchNo === 0
                ? ghost.membership?.digest
                : undefined
              : batchHash(ghost.crypto, header);
          if (signed !== hash)
            throw new Violation(
              "S31",
              `peer ${slot} recorded batch ${batchNo} of peer ${peerId} with hash ${hash}`,
              `peer ${peerId} made ${signed ?? "no such batch"} durable`,
            );
        }
        if (write.table === "counters") {
          const { highSeq } = write.row;
          if (highSeq > (highest.get(slot) ?? 0) && highSeq > writersSeq.highest)
            throw new Violation(
              "S31",
              `peer ${slot} raised its highest slot to ${highSeq}`,
              `the writer signed up to ${writersSeq.highest}`,
            );
          highest.set(slot, highSeq);
        }
      }
    },
  };
};
