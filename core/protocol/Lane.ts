/**
 * Which messages may not wait behind others on their way. What members ask each other for so that a round goes on has
 * room of its own; what is sent for single callers, or for a peer that catches up, comes in whatever number callers
 * choose, and each of them is asked for again when it is lost (protocol.md 2).
 */
import { absurd } from "effect";
import { isOfModule, type Message } from "./Message.ts";

export type Lane = "round" | "bulk";

export const laneOf = (message: Message): Lane => {
  // Members of a module ask each other, as they do in a round; what callers wait for comes in an outcome.
  if (isOfModule(message)) return "round";
  switch (message._tag) {
    case "GenesisCard":
    case "GenesisVote":
    case "GenesisPinned":
    case "GenesisRefused":
    case "ReadyProbe":
    case "Ready":
    // An entry peer takes a writer that does not say so for one that is away.
    case "Forwarded":
    case "Prepare":
    case "Votes":
    case "Commit":
    case "CommitAcks":
    case "SettleQuery":
    case "SettleAnswer":
    case "AbortRequest":
      return "round";
    case "Forward":
    case "Outcome":
    case "StoredQuery":
    case "StoredAnswer":
    case "SnapshotRequest":
    case "SnapshotOffer":
      return "bulk";
    default:
      return absurd(message);
  }
};
