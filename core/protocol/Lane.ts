/**
 * Which messages may not wait behind others on their way. What members ask each other for so that a round goes on has
 * room of its own; what is sent for single callers, or for a peer that catches up, comes in whatever number callers
 * choose, and each of them is asked for again when it is lost (protocol.md 2).
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
 * An entry peer takes a writer that does not say `Forwarded` for one that is away. Members of a module ask each other, as
 * they do in a round; what callers wait for comes in an outcome.
 */
export const laneOf = ({ _tag }: Message): Lane => (bulk.has(_tag) ? "bulk" : "round");
