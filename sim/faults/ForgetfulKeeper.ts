/** A member that acknowledges enrollment sessions and keeps none of them. */
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Mishear } from "./Traitor.ts";

/** Its driver never hears of some of the sessions that it says it keeps. */
export const forgetfulKeeper = (): Mishear => (traitor, from: PeerId, message: Message) => {
  if (message._tag !== "Session.Mirror") return message;
  const forgotten = message.items.filter(() => traitor.next().chance("keeps nothing", 500));
  const acks = forgotten.flatMap(({ session }) => traitor.acknowledge(session) ?? []);
  if (acks.length > 0) {
    traitor.world.marks.add("a member acknowledged a session that it did not keep");
    traitor.world.mail.utter(traitor.peer, from, { _tag: "Session.Votes", acks, refusals: [] });
  }
  return { ...message, items: message.items.filter((item) => !forgotten.includes(item)) };
};
