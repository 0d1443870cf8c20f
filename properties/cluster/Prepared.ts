/** A test cluster between a proposal and its end: every member has prepared, and none has committed. */
import type { Preparation } from "../../core/protocol/Undecided.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { type Cluster, founded } from "./Cluster.ts";
import { stateOf } from "./Restoring.ts";

/**
 * A registration of which no vote has reached anybody yet; the preparation at peer 2.
 *
 * @param before what the cluster does before that
 * @param through the peer that it enters through; by default the writer
 */
export const prepared = (
  total = 3,
  before: (cluster: Cluster) => void = () => undefined,
  through: PeerId = 1,
): { readonly cluster: Cluster; readonly preparation: Preparation } => {
  const cluster = founded(total);
  before(cluster);
  cluster.tamper = (_from, _to, message) => (message._tag === "Votes" ? undefined : message);
  cluster.register(through, "request", "alice", 7);
  cluster.settle();
  const [preparation] = stateOf(cluster, 2).undecided.preparations.values();
  if (preparation === undefined) throw new Error("peer 2 has not prepared");
  return { cluster, preparation };
};
