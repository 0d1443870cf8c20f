import { describe, expect, it } from "vitest";
import { Cluster, codeOf } from "../../properties/cluster/Cluster.ts";
import { answeredWith, beforePromotion, planOf, promote } from "../../properties/cluster/Promoting.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { modeOf } from "./Mode.ts";

const modesOf = (cluster: Cluster): ReadonlyArray<string> =>
  [1, 2, 3].map((peerId) => modeOf(stateOf(cluster, peerId)));

describe("a promotion", () => {
  it("makes an instance with a registry and two peers a cluster that goes on with it", () => {
    const cluster = beforePromotion();
    cluster.register(2, "first", "alice", 1);
    cluster.register(2, "second", "bob", 2);
    cluster.pass(1_000);
    expect(["first", "second"].map((each) => codeOf(cluster, each))).toEqual(["Registered", "Registered"]);
    expect(modesOf(cluster)).toEqual(["founding", "active", "founding"]);
    promote(cluster);
    cluster.settle();
    expect(cluster.answers.get("promote")).toMatchObject({ _tag: "Promotion", promotion: { stage: "PINNED" } });
    cluster.pass(10_000);
    expect(modesOf(cluster)).toEqual(["active", "active", "active"]);
    for (const peerId of [1, 3]) expect(cluster.tables.get(peerId)?.get("approvers")?.size).toBe(2);
    cluster.register(3, "third", "carol", 3);
    cluster.pass(2_000);
    expect(codeOf(cluster, "third")).toBe("Registered");
    expect(stateOf(cluster, 1).undecided.highSeq).toBe(3);
    promote(cluster, "again");
    cluster.settle();
    expect(answeredWith(cluster, "again")).toMatchObject({ stage: "DONE", installed: [1, 3] });
    promote(cluster, "other", planOf(3, 3));
    cluster.settle();
    expect(codeOf(cluster, "other")).toBe("PROMOTION_UNDER_WAY");
  });
});
