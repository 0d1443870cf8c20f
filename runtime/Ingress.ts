/**
 * What must be known before a message may enter the core: who its bearer tokens
 * speak for. Verification may take its time (keys come over the network in the
 * server), so it happens here, outside the step; every other check is the core's.
 */
import type { ActorCheck, Event } from "../core/Event.ts";
import type { Message } from "../core/protocol/Message.ts";
import type { PeerId } from "../core/protocol/Topology.ts";

/** The bearer tokens in a message, in the order in which the core expects the answers. */
export const tokensIn = (message: Message): ReadonlyArray<string> => {
  switch (message._tag) {
    case "Forward":
      return [message.forward.token];
    case "Prepare":
    case "SessionMirror":
      return message.items.map((item) => item.evidence.token);
    default:
      return [];
  }
};

/** The event a message becomes once its tokens are judged. */
export const delivery = (from: PeerId, message: Message, actors: ReadonlyArray<ActorCheck>): Event => ({
  _tag: "Deliver",
  from,
  message,
  actors,
});
