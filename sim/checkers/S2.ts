/** S2: every statement that left its signer was in the signer's synced state: its batch, and the row that speaks of it. */
import type { Message } from "../../core/Message.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { statementsIn } from "./StatementsIn.ts";
import { Violation } from "../base/Violation.ts";
import { voteText } from "./Votes.ts";

export const S2 = (ghost: Ghost): Checker => {
  const seen = new WeakSet<SignedStatement>();
  let last: Message | undefined;
  return {
    id: "S2",
    sent: ({ slot, honest }, message) => {
      // The same message goes to several peers in a row.
      if (!honest || message === last) return;
      last = message;
      for (const statement of statementsIn(ghost.product, message)) {
        if (seen.has(statement)) continue;
        const { peerId, incarnation, batchNo } = statement.header;
        if (ghost.isLying(peerId)) continue;
        if (!ghost.isDurable(statement))
          throw new Violation(
            "S2",
            `peer ${slot} sent ${message._tag} with a ${voteText(statement)}, signed in batch ${batchNo} of peer ${peerId}`,
            `a vote leaves only when its batch is synced, and the newest synced batch of peer ${peerId} is ${ghost.lastBatch(peerId, incarnation)?.batchNo ?? 0}, or another batch ${batchNo}`,
          );
        if (!ghost.stored.has(statement))
          throw new Violation(
            "S2",
            `peer ${slot} sent ${message._tag} with a ${voteText(statement)}, signed in batch ${batchNo} of peer ${peerId}`,
            `a vote leaves only when the row that speaks of it is synced, and peer ${peerId} never had one`,
          );
        seen.add(statement);
      }
    },
  };
};
