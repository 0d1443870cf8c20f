/** S2: every statement that left its signer was in the signer's synced state. */
import { absurd } from "effect";
import { isOfModule } from "../../core/protocol/Message.ts";
import { offers } from "../../core/commands/enrollPasskey/SessionMessages.ts";
import type { Message } from "../../core/Message.ts";
import type { Outcome } from "../../core/protocol/Message.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import type { Product } from "../models/Product.ts";
import { Violation } from "../base/Violation.ts";

const inOutcome = (outcome: Outcome): ReadonlyArray<SignedStatement> => {
  if (outcome._tag === "Exchanged") return offers.decode(outcome.answer)?.acks ?? [];
  return outcome._tag === "Confirmed" ? [...outcome.certificate.receipts, ...outcome.acks] : [];
};

/** Every statement in a message, whoever signed it. */
const statementsIn = (product: Product, message: Message): ReadonlyArray<SignedStatement> => {
  if (isOfModule(message)) return product.messageModel(message).statementsIn(message);
  switch (message._tag) {
    case "Prepare":
      return message.items.map((item) => item.receipt);
    case "Votes":
    case "CommitAcks":
      return message.statements;
    case "Commit":
      return [...message.certificates.flatMap(({ receipts }) => receipts), ...message.acks];
    case "SettleQuery":
      return message.items.map((item) => item.receipt);
    case "SettleAnswer":
      return message.items.flatMap((item) => item.held);
    case "AbortRequest":
      return message.items.flatMap(({ receipt, votes }) => [receipt, ...votes]);
    case "SnapshotOffer":
      return message.items.flatMap(({ certificate, writerReceipt }) => [
        ...(certificate?.receipts ?? []),
        ...(writerReceipt === undefined ? [] : [writerReceipt]),
      ]);
    case "Ready":
      return message.highSeqProof === undefined ? [] : [message.highSeqProof];
    case "Outcome":
      return inOutcome(message.outcome);
    case "GenesisCard":
    case "GenesisVote":
    case "GenesisPinned":
    case "GenesisRefused":
    case "ReadyProbe":
    case "Forward":
    case "Forwarded":
    case "SnapshotRequest":
    case "StoredQuery":
    case "StoredAnswer":
      return [];
    default:
      return absurd(message);
  }
};

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
            `peer ${slot} sent ${message._tag} with a ${statement.statement.kind} of batch ${batchNo} of peer ${peerId}`,
            `the newest synced batch of peer ${peerId} is ${ghost.lastBatch(peerId, incarnation)?.batchNo ?? 0}, or another batch ${batchNo}`,
          );
        seen.add(statement);
      }
    },
  };
};
