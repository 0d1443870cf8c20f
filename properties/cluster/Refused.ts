/** A test cluster between a refusal and its end. */
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { actor, type Cluster, founded } from "./Cluster.ts";

export const forbidden: ActorCheck = { _tag: "Refused", reason: "it was revoked" };

/** A registration through the writer that one member refuses, with some messages kept off the wire; nothing is settled yet. */
export const refusedBy = (
  refuser: PeerId,
  drop: (from: PeerId, to: PeerId, message: Message) => boolean,
  total = 3,
): Cluster => {
  const cluster = founded(total);
  cluster.judge = (peerId) => (peerId === refuser ? forbidden : actor);
  cluster.tamper = (from, to, message) => (drop(from, to, message) ? undefined : message);
  cluster.register(1, "request", "alice", 7);
  cluster.settle();
  return cluster;
};
