/**
 * Which messages may not wait behind others. Messages between members that keep a round going have a lane of their own;
 * messages for single callers, or for a peer that catches up, come in any number, and each is requested again if it is
 * lost (protocol.md 2).
 */
import type { Message, ProtocolMessage } from "./Message.ts";

export type Lane = "round" | "bulk";

const bulk: ReadonlySet<string> = new Set<ProtocolMessage["_tag"]>([
  "Forward",
  "Outcome",
  "StoredQuery",
  "StoredAnswer",
  "SnapshotRequest",
  "SnapshotOffer",
]);

/**
 * Among the first: `Forwarded`, because without it an entry peer takes the writer to be away; and all messages of
 * modules, in which members ask each other as in a round. What callers wait for comes in an `Outcome`.
 */
export const laneOf = ({ _tag }: Message): Lane => (bulk.has(_tag) ? "bulk" : "round");
