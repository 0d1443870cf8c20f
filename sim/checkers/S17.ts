/** S17: by its signer's own clock no receipt is signed after its proposal expired, and no session kept that is over. */
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

export const S17 = (ghost: Ghost): Checker => ({
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
    sessions: ({ slot, honest }, write) => {
      // The writer has given it its times itself.
      if (!honest || write.op !== "insert" || ghost.membership?.writer === slot) return;
      const { ack, session } = write.row;
      if (ack.header.signedAt > session.expiresAt)
        throw new Violation(
          "S17",
          `peer ${slot} acknowledged session ${session.registrationId} at ${ack.header.signedAt}`,
          `it was over at ${session.expiresAt}`,
        );
    },
  },
});
