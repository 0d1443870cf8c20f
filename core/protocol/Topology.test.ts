import { describe, expect, it } from "vitest";
import { crypto, founded } from "../../properties/cluster/Cluster.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import type { Digest } from "../base/Digest.ts";
import { epochOf, isPinnedByAll, membershipOf, type PinnedTopology, signersFor } from "./Topology.ts";

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

describe("a chain of epochs", () => {
  const [first] = topology.members;
  if (first === undefined) throw new Error("it has members");
  const before = membershipOf(crypto, { ...topology, members: [first] });
  const later = { ...topology, version: 3, epoch: 2, prevDigest: before.digest, firstSlot: 8 };
  const newest = membershipOf(crypto, later, before);

  it("gives each slot to one epoch", () => {
    expect(epochOf(newest, 1)).toBe(before);
    expect(epochOf(newest, 7)).toBe(before);
    expect(epochOf(newest, 8)).toBe(newest);
    expect(epochOf(newest, 0)).toBeUndefined();
    expect(epochOf(undefined, 1)).toBeUndefined();
  });

  it.each<readonly [string, Digest, number, typeof newest | undefined]>([
    ["the members of its time", before.digest, 7, before],
    ["the members of today", newest.digest, 8, newest],
    ["nobody where the old epoch was over", before.digest, 8, undefined],
    ["nobody where the new one had not begun", newest.digest, 7, undefined],
    ["nobody in the name of strangers", "ab".repeat(32) as Digest, 7, undefined],
  ])("has what is said of a slot signed by %s", (_who, topologyDigest, seq, signers) => {
    expect(signersFor(newest, { seq, topologyDigest })).toBe(signers);
  });

  it("is covered by the digest: the slot that an epoch begins with can be no other", () => {
    expect(membershipOf(crypto, { ...later, firstSlot: 9 }, before).digest).not.toBe(newest.digest);
  });
});
