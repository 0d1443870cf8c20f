/** The signed statements that a message brings, whoever signed them. */
import { absurd } from "effect";
import { isOfModule } from "../../core/protocol/Message.ts";
import { offers } from "../../core/commands/enrollPasskey/SessionMessages.ts";
import type { Message } from "../../core/Message.ts";
import type { Outcome } from "../../core/protocol/Message.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import type { Product } from "../models/Product.ts";

const inOutcome = (outcome: Outcome): ReadonlyArray<SignedStatement> => {
  if (outcome._tag === "Exchanged") return offers.decode(outcome.answer)?.acks ?? [];
  return outcome._tag === "Confirmed" ? [...outcome.certificate.receipts, ...outcome.acks] : [];
};

/** Every statement in a message, in the order of the message. */
export const statementsIn = (product: Product, message: Message): ReadonlyArray<SignedStatement> => {
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
