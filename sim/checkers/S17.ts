/** S17: no receipt is signed after its proposal expired, and time never runs back within a process. */
import type { Checker } from "../Checker.ts";
import { Violation } from "../Violation.ts";

export const S17 = (): Checker => {
  const latest = new Map<number, { readonly process: number; readonly at: number }>();
  return {
    id: "S17",
    written: {
      preparations: ({ slot, honest }, write) => {
        if (!honest || write.op === "remove") return;
        const { own, proposal } = write.row;
        if (own.header.signedAt > proposal.expiresAt)
          throw new Violation(
            "S17",
            `peer ${slot} signed a RECEIPT at ${own.header.signedAt}`,
            `the proposal expired at ${proposal.expiresAt}`,
          );
      },
      batches: ({ slot, honest, process }, write) => {
        if (!honest || write.op === "remove") return;
        const { signedAt, batchNo } = write.row.header;
        const before = latest.get(slot);
        if (before !== undefined && before.process === process && signedAt < before.at)
          throw new Violation(
            "S17",
            `peer ${slot} signed batch ${batchNo} at ${signedAt}`,
            `the same process had signed at ${before.at} before`,
          );
        latest.set(slot, { process, at: signedAt });
      },
    },
  };
};
