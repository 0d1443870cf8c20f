/** A test cluster with an approver whose metadata is replaced. */
import { Cluster } from "./Cluster.ts";

/** A founded cluster with one approver, registered as revision 1. */
export const registered = (count = 3): { readonly cluster: Cluster; readonly ref: string } => {
  const cluster = new Cluster(count);
  cluster.pass(2_000);
  cluster.register(1, "first", "alice", 7);
  cluster.pass(2_000);
  const answer = cluster.answers.get("first");
  if (answer?._tag !== "Registered") throw new Error("the approver was not registered");
  return { cluster, ref: answer.approver.ref };
};

export const rows = (cluster: Cluster, ref: string) =>
  [...cluster.peers.keys()].map((peerId) => cluster.row(peerId, "approvers", ref));
export const revisions = (cluster: Cluster, ref: string) => rows(cluster, ref).map((row) => row?.revision);
export const locks = (cluster: Cluster) => [...cluster.peers.values()].map(({ state }) => state.undecided.locks.size);
