/**
 * The way of callers' requests through the peers. The name that a request has at its entry peer is in the messages about
 * it, so that every peer's log tells of it in the same words, and nothing is added to what is sent or signed.
 */
import type { Message } from "../../core/Message.ts";
import { requestKey } from "../../core/protocol/Forward.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Log } from "./Log.ts";

/**
 * The requests that a message is about, each as `ENTRY/NAME`, the id of its entry peer and its name there.
 *
 * @param to the peer that the message is for: of an outcome, the entry peer
 */
export const requestsIn = (message: Message, to: PeerId): ReadonlyArray<string> => {
  switch (message._tag) {
    case "Forward":
      return [requestKey(message.forward)];
    case "Prepare":
      return message.items.map(({ evidence }) => requestKey(evidence));
    case "Commit":
      return message.certificates.map(({ proposal }) => requestKey(proposal));
    case "Forwarded":
    case "Outcome":
      return [requestKey({ entryPeer: to, requestId: message.requestId })];
    default:
      return [];
  }
};

/** Writes down, at level debug, that a message about requests came in. */
export const tellArrival = (log: Log, to: PeerId, from: PeerId, message: Message): void => {
  const requests = requestsIn(message, to);
  if (requests.length > 0) log.debug("message", { kind: message._tag, from, to, requests: requests.join(" ") });
};
