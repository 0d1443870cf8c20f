/**
 * Which messages may not wait behind others. Messages between members that keep a round going have a lane of their own;
 * messages for single callers, for a peer that catches up or one that is not known yet come in any number, and each is requested again if it is
 * lost (protocol.md 2).
 */
import type { Message, ProtocolMessage } from "./Message.ts";
import type { PromotionMessage } from "./PromotionMessages.ts";

export type Lane = "round" | "bulk";

const bulk: ReadonlySet<string> = new Set<ProtocolMessage["_tag"] | PromotionMessage["_tag"]>([
  "Forward",
  "Outcome",
  "StoredQuery",
  "StoredAnswer",
  "SnapshotRequest",
  "SnapshotOffer",
  // A stranger may ask for these in a member's name, as often as it likes.
  "GenesisPinned",
  "GenesisRefused",
  "Promotion.Standing",
  "Promotion.Refused",
  "Promotion.Decided",
]);

/**
 * Among the first: `Forwarded`, because without it an entry peer takes the writer to be away; and all messages of
 * modules, in which members ask each other as in a round. What callers wait for comes in an `Outcome`.
 */
export const laneOf = ({ _tag }: Message): Lane => (bulk.has(_tag) ? "bulk" : "round");
