import { describe, expect, it } from "vitest";
import type { Cluster } from "../../properties/cluster/Cluster.ts";
import { forgedBy } from "../../properties/cluster/Forging.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import type { SignedStatement } from "./Statement.ts";

/** Shows peer 2 statements of others. */
const show = (cluster: Cluster, ...statements: ReadonlyArray<SignedStatement>): void =>
  cluster.peers.get(2)?.dispatch({ _tag: "Deliver", from: 1, message: { _tag: "Votes", statements }, actors: [] });

describe("a member that is shown votes", () => {
  it("commits with the last receipt that was missing, writer or not", () => {
    const { cluster, preparation } = prepared();
    show(cluster, forgedBy(cluster, 3, preparation.own, {}));
    expect(stateOf(cluster, 2).registry.approvers).toBe(1);
  });

  it("begins nothing upon what tells it nothing new: a receipt that it has, or one that does not count", () => {
    const { cluster, preparation } = prepared(2);
    const { own, writerReceipt } = preparation;
    expect([...preparation.receipts.keys()]).toEqual([1, 2]);
    show(cluster, writerReceipt);
    show(cluster, forgedBy(cluster, 1, own, {}, { peerId: 3 }));
    expect(stateOf(cluster, 2).undecided.preparations.get(preparation.id)).toEqual(preparation);
    expect(stateOf(cluster, 2).registry.approvers).toBe(0);
  });

  it("takes no more receipts in for what it has pledged to give up", () => {
    const { cluster, preparation } = prepared();
    show(cluster, forgedBy(cluster, 3, preparation.own, { kind: "REFUSAL", detail: "EXPIRED" }));
    show(cluster, forgedBy(cluster, 3, preparation.own, {}));
    const pledged = stateOf(cluster, 2).undecided.preparations.get(preparation.id);
    expect(pledged?.pledge?.statement.kind).toBe("PLEDGE");
    expect([...(pledged?.receipts.keys() ?? [])]).toEqual([1, 2]);
  });

  it("looks at the first of what one member says twice in one message", () => {
    const { cluster, preparation } = prepared();
    const { own } = preparation;
    show(cluster, forgedBy(cluster, 3, own, {}), { ...forgedBy(cluster, 3, own, {}), signature: own.signature });
    expect(stateOf(cluster, 2).registry.approvers).toBe(1);
  });
});
