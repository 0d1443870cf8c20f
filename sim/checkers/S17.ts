/** S17: no receipt is signed after its proposal expired, by its signer's own clock. */
import type { Checker } from "./Checker.ts";
import { Violation } from "../base/Violation.ts";

export const S17 = (): Checker => ({
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
  },
});
