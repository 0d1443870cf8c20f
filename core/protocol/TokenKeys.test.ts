import { describe, expect, it } from "vitest";
import { actor, type Cluster, founded, rowsOf } from "../../properties/cluster/Cluster.ts";

/** A cluster in which a peer has no keys to verify tokens with, and knows it. */
const without = (peerId: number): Cluster => {
  const cluster = founded();
  cluster.judgesTokens = (each) => each !== peerId;
  cluster.judge = (each) => (each === peerId ? { _tag: "Unavailable" } : actor);
  return cluster;
};
const reason = "it cannot verify tokens: the keys of their issuer cannot be had";

describe("a member that has no keys to verify tokens with", () => {
  it.each([
    ["the writer", 1, 2],
    ["the entry peer", 3, 3],
    ["another", 2, 3],
    ["another, of the writer's own callers", 2, 1],
  ])("is named at once where it is %s, and nothing is reserved", (_which, peerId, through) => {
    const cluster = without(peerId);
    cluster.register(through, "request", "alice", 7);
    cluster.settle();
    expect(cluster.answers.get("request")).toMatchObject({
      rejection: { code: "APPROVER_REPLICATION_UNAVAILABLE", members: [{ peerId, reason }], outcomeUnknown: false },
    });
    expect(rowsOf(cluster, "preparations")).toEqual([0, 0, 0]);
  });

  it("is named to whoever asks whether a change would be accepted, and takes part once it has them again", () => {
    const cluster = without(2);
    for (const through of [1, 2, 3]) {
      cluster.peers.get(through)?.dispatch({ _tag: "CheckReadiness", requestId: `ready ${through}` });
      cluster.settle();
      expect(cluster.answers.get(`ready ${through}`)).toEqual({ _tag: "Readiness", faults: [{ peerId: 2, reason }] });
    }
    cluster.judgesTokens = () => true;
    cluster.judge = () => actor;
    cluster.pass(1_001);
    cluster.register(3, "request", "alice", 7);
    cluster.settle();
    expect(cluster.answers.get("request")).toMatchObject({ _tag: "Registered", created: true });
  });
});
