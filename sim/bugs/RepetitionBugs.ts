/** Bugs in what members are asked again, and in what they are told they need not keep. */
import type { Message } from "../../core/Message.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { PlantedBug } from "./PlantedBug.ts";

/** Takes a question about a request for one that was asked at another moment of the peer's own clock. */
const askedAt =
  (elapsed: number) =>
  (_world: unknown, { state }: SimPeer): void => {
    for (const awaited of state?.requests.awaited.values() ?? []) Object.assign(awaited, { sentAt: elapsed });
  };

const stableTooSoon = (message: Message): Message =>
  message._tag === "Prepare" ? { ...message, stableSeq: message.stableSeq + 1 } : message;

export const repetitionBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "asked-once",
    changes: "a peer asks other members once about a request of its caller, and never again",
    finds: "S51",
    schedule: "swarm",
    tampering: () => ({ stepped: askedAt(Number.POSITIVE_INFINITY) }),
  },
  {
    name: "stable-too-soon",
    changes: "the writer calls one slot more stable than every member has applied",
    finds: "S52",
    schedule: "swarm",
    tampering: () => ({ said: (_peer, message) => stableTooSoon(message) }),
  },
];
