import { describe, expect, it } from "vitest";
import { crypto, founded } from "../../properties/cluster/Cluster.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { isPinnedByAll, type PinnedTopology } from "./Topology.ts";

const {
  cluster: { pinned },
} = stateOf(founded(), 1);
if (pinned === undefined) throw new Error("the cluster is not founded");
const { topology, signatures } = pinned;

describe("a pinned topology", () => {
  const holds = (change: Partial<PinnedTopology>): boolean => isPinnedByAll(crypto, { ...pinned, ...change });

  it("is one that every member has signed", () => {
    expect(holds({})).toBe(true);
  });

  it.each<readonly [string, Partial<PinnedTopology>]>([
    ["of nobody", { topology: { ...topology, members: [] }, signatures: [] }],
    ["with a signature missing", { signatures: signatures.slice(0, 2) }],
    ["with a signature too many", { signatures: [...signatures, ...signatures.slice(0, 1)] }],
    ["with the signatures in another order", { signatures: signatures.toReversed() }],
    ["that differs from what was signed", { topology: { ...topology, threshold: topology.threshold + 1 } }],
  ])("is none %s", (_what, change) => {
    expect(holds(change)).toBe(false);
  });
});
