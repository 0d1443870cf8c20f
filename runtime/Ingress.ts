/**
 * What must be known before a message may enter the core: who its bearer tokens
 * speak for. Verification may take its time (keys come over the network in the
 * server), so it happens here, outside the step; every other check is the core's.
 */
import { absurd } from "effect";
import type { ActorCheck } from "../core/auth/ActorCheck.ts";
import type { Event } from "../core/protocol/Event.ts";
import type { Message } from "../core/Message.ts";
import type { PeerId } from "../core/protocol/Topology.ts";

/** The bearer tokens in a message, in the order in which the core expects the answers. */
export const tokensIn = (message: Message): ReadonlyArray<string> => {
  switch (message._tag) {
    case "Forward":
      return [message.forward.token];
    case "Prepare":
    case "Session.Mirror":
      return message.items.map((item) => item.evidence.token);
    case "GenesisCard":
    case "GenesisVote":
    case "GenesisPinned":
    case "GenesisRefused":
    case "ReadyProbe":
    case "Ready":
    case "Forwarded":
    case "Outcome":
    case "Votes":
    case "Commit":
    case "CommitAcks":
    case "SettleQuery":
    case "SettleAnswer":
    case "AbortRequest":
    case "SnapshotRequest":
    case "SnapshotOffer":
    case "StoredQuery":
    case "StoredAnswer":
    case "Session.Votes":
      return [];
    default:
      return absurd(message);
  }
};

/** The event a message becomes once its tokens are judged. */
export const delivery = (from: PeerId, message: Message, actors: ReadonlyArray<ActorCheck>): Event => ({
  _tag: "Deliver",
  from,
  message,
  actors,
});
