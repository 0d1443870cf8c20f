import { describe, expect, it } from "vitest";
import { Cluster } from "../../properties/cluster/Cluster.ts";
import { slotKey } from "../Tables.ts";
import type { Message } from "./Message.ts";

const declare = (cluster: Cluster, peerId: number): void =>
  cluster.peers.get(peerId)?.dispatch({ _tag: "DeclareRestore", requestId: `declare ${peerId}` });
const outcomeAt = (cluster: Cluster, peerId: number): string | undefined =>
  cluster.row(peerId, "slots", slotKey(1, 1))?.outcome;
const isSettling = ({ _tag }: Message): boolean =>
  _tag === "Votes" || _tag === "SettleAnswer" || _tag === "AbortRequest" || _tag === "CommitAcks";

/**
 * Of four members 3 is restored and refuses what its old life had prepared; 2 and 4 pledge. Its old receipt reaches 1,
 * which has heard of none of it and applies. What 1 says of that is kept back, so that it can be delivered later.
 */
const appliedBehindPledges = () => {
  const cluster = new Cluster(4);
  cluster.pass(2_000);
  const receipts: Array<Message> = [];
  const commits: Array<Message> = [];
  cluster.tamper = (from, to, message) => {
    if (from === 3 && message._tag === "Votes") receipts.push(message);
    return from === 3 && to === 1 && isSettling(message) ? undefined : message;
  };
  cluster.register(1, "request", "alice", 7);
  cluster.settle();
  const [receipt] = receipts;
  cluster.tamper = (from, to, message) => {
    if (from === 1 && to === 2 && message._tag === "Commit" && message.acks.length > 0) commits.push(message);
    return (to === 1 && isSettling(message)) || (from === 1 && message._tag === "Commit") ? undefined : message;
  };
  declare(cluster, 3);
  cluster.pass(6_000);
  for (const peerId of [2, 4])
    expect(cluster.peers.get(peerId)?.state.preparations.values().next().value).toMatchObject({ pledge: {} });
  if (receipt !== undefined) cluster.peers.get(1)?.dispatch({ _tag: "Deliver", from: 3, message: receipt, actors: [] });
  cluster.pass(1_500);
  const [commit] = commits;
  if (commit === undefined) throw new Error("peer 1 has not applied it");
  return { cluster, commit };
};

describe("a restored member that knows nothing of a proposal", () => {
  it("refuses it only after every other member has said that it has not applied it", () => {
    const { cluster, commit } = appliedBehindPledges();
    // Word of it from the old life of 1 frees 2 from its pledge; then 1 is restored, and 4 has not heard of it.
    cluster.peers.get(2)?.dispatch({ _tag: "Deliver", from: 1, message: commit, actors: [] });
    expect(outcomeAt(cluster, 2)).toBe("APPLIED");
    cluster.tamper = (_from, to, message) => (to === 4 && message._tag === "Commit" ? undefined : message);
    declare(cluster, 1);
    cluster.pass(10_000);
    expect(outcomeAt(cluster, 2)).toBe("APPLIED");
    expect(outcomeAt(cluster, 4)).not.toBe("ABORTED");
    cluster.tamper = (_from, _to, message) => message;
    cluster.pass(15_000);
    for (const peerId of [1, 2, 3, 4]) {
      expect(outcomeAt(cluster, peerId)).toBe("APPLIED");
      expect(cluster.peers.get(peerId)?.state.recovery).toBeUndefined();
    }
  });

  it("says nothing of what it has forgotten while somebody has its old life on record", () => {
    const cluster = new Cluster(3);
    cluster.pass(2_000);
    const answered: Array<number> = [];
    let isRecorded = false;
    cluster.tamper = (from, to, message) => {
      if (from === 2 && message._tag === "SettleAnswer") answered.push(to);
      if (message._tag === "Votes" || message._tag === "SnapshotOffer") return undefined;
      return !isRecorded && from === 3 && to === 2 && message._tag === "Ready" ? undefined : message;
    };
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    const [held] = cluster.peers.get(3)?.state.preparations.values() ?? [];
    if (held === undefined) throw new Error("peer 3 has not prepared");
    const query: Message = {
      _tag: "SettleQuery",
      items: [{ proposal: held.proposal, receipt: held.writerReceipt }],
      demandFinal: false,
      nonce: held.id,
    };
    declare(cluster, 2);
    cluster.settle();
    const ask = (): void => {
      cluster.peers.get(2)?.dispatch({ _tag: "Deliver", from: 3, message: query, actors: [] });
      cluster.settle();
    };
    ask();
    expect(answered).toEqual([]);
    isRecorded = true;
    cluster.pass(600);
    ask();
    expect(answered).toContain(3);
  });
});
