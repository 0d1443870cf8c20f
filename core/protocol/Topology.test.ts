import { describe, expect, it } from "vitest";
import { crypto, founded } from "../../properties/cluster/Cluster.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { isPinnedByAll, membershipOf, type PinnedTopology } from "./Topology.ts";

const { pinned } = stateOf(founded(), 1);
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

describe("a membership", () => {
  it("is one and the same for all peers of a process, so that what is remembered for it is too", () => {
    const another = { ...topology, threshold: topology.threshold + 1 };
    const membership = membershipOf(crypto, topology);
    expect(membershipOf(crypto, { ...topology })).toBe(membership);
    expect(membershipOf(crypto, another).topology).toBe(another);
  });

  it("is another one where another crypto is trusted, though that digests alike", () => {
    const other = { ...crypto };
    expect(membershipOf(other, topology)).not.toBe(membershipOf(crypto, topology));
    expect(membershipOf(other, topology)).toEqual(membershipOf(crypto, topology));
  });
});
