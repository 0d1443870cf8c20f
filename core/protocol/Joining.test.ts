import { describe, expect, it } from "vitest";
import { copyOf } from "../../properties/cluster/Restoring.ts";
import { actor, Cluster, crypto, whole, founded } from "../../properties/cluster/Cluster.ts";
import type { MemoryTables } from "../../runtime/MemoryByteStore.ts";
import { SELF, slotKey } from "../Tables.ts";
import type { Message } from "./Message.ts";
import { BATCH_TAG, batchHeaderCodec } from "./Statement.ts";

const stateOf = (cluster: Cluster, peerId: number) => {
  const state = cluster.peers.get(peerId)?.state;
  if (state === undefined) throw new Error("no such peer");
  return state;
};
const restart = (cluster: Cluster, peerId: number): void => {
  cluster.peers.get(peerId)?.stop();
  cluster.start(peerId);
};

describe("a peer that has just started", () => {
  it("signs no statement until every other member has answered, and is named as the reason meanwhile", () => {
    const cluster = founded();
    cluster.tamper = (from, to, message) => (message._tag === "Ready" && from === 3 && to === 2 ? undefined : message);
    restart(cluster, 2);
    cluster.pass(3_000);
    expect([...stateOf(cluster, 2).unproven]).toEqual([3]);
    cluster.register(1, "early", "alice", 7);
    cluster.pass(100);
    expect(cluster.answers.get("early")).toMatchObject({
      _tag: "Rejected",
      rejection: { members: [{ peerId: 2, reason: "it is joining" }], outcomeUnknown: false },
    });
    const before = stateOf(cluster, 2).chain;
    cluster.tamper = whole;
    cluster.pass(600);
    expect(stateOf(cluster, 2).unproven.size).toBe(0);
    cluster.register(1, "later", "alice", 7);
    cluster.settle();
    expect(cluster.answers.get("later")).toMatchObject({ _tag: "Registered" });
    expect(stateOf(cluster, 2).chain.batchNo).toBeGreaterThan(before.batchNo);
  });

  it("applies certificates while it joins, acknowledges them when it has joined, also after another restart", () => {
    const cluster = founded();
    cluster.tamper = (_from, to, message) => (message._tag === "Commit" && to === 2 ? undefined : message);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    const joins = (from: number, to: number, message: Message) =>
      message._tag === "Ready" && from === 3 && to === 2 ? undefined : message;
    cluster.tamper = joins;
    restart(cluster, 2);
    cluster.pass(3_000);
    expect(stateOf(cluster, 2).registry.approvers).toBe(1);
    expect(cluster.row(2, "slots", slotKey(1, 1))).toMatchObject({ outcome: "APPLIED", ack: undefined });
    expect(cluster.answers.has("request")).toBe(false);
    restart(cluster, 2);
    cluster.tamper = whole;
    cluster.pass(2_000);
    expect(cluster.row(2, "slots", slotKey(1, 1))?.ack?.statement.kind).toBe("COMMIT_ACK");
    expect(cluster.answers.get("request")).toMatchObject({ _tag: "Registered", created: true });
    for (const peerId of [1, 2, 3]) expect(stateOf(cluster, peerId).outbox.size).toBe(0);
  });

  for (const peerId of [1, 2])
    it(`from an old disk as peer ${peerId} is shown its own signature and signs nothing more`, () => {
      const cluster = founded();
      const old = copyOf(cluster.tables.get(peerId));
      cluster.register(1, "request", "alice", 7);
      cluster.pass(1_000);
      cluster.peers.get(peerId)?.stop();
      cluster.tables.set(peerId, old);
      cluster.start(peerId);
      cluster.pass(1_000);
      expect(stateOf(cluster, peerId).quarantine).toContain("does not remember it");
      cluster.register(3, "more", "bob", 8);
      cluster.pass(3_000);
      expect(cluster.answers.get("more")).toMatchObject({ _tag: "Rejected" });
      restart(cluster, peerId);
      cluster.pass(1_000);
      expect(stateOf(cluster, peerId).quarantine).toContain("does not remember it");
    });

  it("on the disk it left joins, whoever else was started at the same moment", () => {
    const cluster = founded();
    cluster.register(1, "request", "alice", 7);
    cluster.pass(1_000);
    for (const peerId of [1, 2, 3]) restart(cluster, peerId);
    cluster.pass(1_000);
    for (const peerId of [1, 2, 3]) expect(stateOf(cluster, peerId).unproven.size).toBe(0);
  });

  it("is not put out by a claim that it has not signed, and still waits for that member", () => {
    const cluster = founded();
    const liar = cluster.keys.get(3);
    cluster.tamper = (from, to, message) => {
      if (message._tag !== "Ready" || from !== 3 || to !== 2 || liar === undefined) return message;
      const header = {
        peerId: 2,
        incarnation: 1,
        batchNo: 1_000,
        prevBatchHash: crypto.setDigest(crypto.emptySet),
        size: 1,
        root: crypto.setDigest(crypto.emptySet),
        signedAt: cluster.now,
      };
      return { ...message, seen: { header, signature: liar.sign(BATCH_TAG, batchHeaderCodec, header) } };
    };
    restart(cluster, 2);
    cluster.pass(1_000);
    expect(stateOf(cluster, 2).quarantine).toBeUndefined();
  });

  it("from a disk of before its topology was pinned proves itself like any other", () => {
    const cluster = new Cluster(3);
    const olds: Array<MemoryTables> = [];
    cluster.tamper = (from, _to, message) => {
      if (from === 2 && message._tag === "GenesisVote" && cluster.row(2, "topology", SELF) === undefined)
        olds.push(copyOf(cluster.tables.get(2)));
      return message;
    };
    cluster.pass(2_000);
    cluster.tamper = whole;
    cluster.register(1, "request", "alice", 7);
    cluster.pass(2_000);
    cluster.peers.get(2)?.stop();
    cluster.tables.set(2, olds[0] ?? new Map());
    cluster.start(2);
    cluster.pass(3_000);
    expect(stateOf(cluster, 2).membership).toBeDefined();
    expect(stateOf(cluster, 2).quarantine).toContain("does not remember it");
    expect(cluster.tables.get(2)?.get("batches")?.size ?? 0).toBe(0);
  });

  it("takes no comfort from a member whose own records do not hold", () => {
    const cluster = founded();
    cluster.register(1, "request", "alice", 7);
    cluster.pass(2_000);
    cluster.peers.get(3)?.stop();
    const counters = cluster.tables.get(3)?.get("counters");
    const row = counters?.get(SELF);
    if (row === undefined) throw new Error("every peer has counters");
    counters?.set(SELF, {
      ...row,
      row: row.row.map((byte, index) => (index === row.row.length - 1 ? byte ^ 1 : byte)),
    });
    cluster.start(3);
    expect(stateOf(cluster, 3).integrityFault).toBeDefined();
    restart(cluster, 2);
    cluster.pass(3_000);
    expect([...stateOf(cluster, 2).unproven]).toEqual([3]);
  });

  it("that has applied and not acknowledged refuses nothing of it and forgets nothing of it, whatever the writer says", () => {
    const cluster = founded();
    const commits: Array<Message> = [];
    const prepares: Array<Message> = [];
    cluster.tamper = (_from, to, message) => {
      if (message._tag === "Prepare" && to === 2) prepares.push(message);
      if (message._tag === "Commit" && to === 2) commits.push({ ...message, stableSeq: 1_000 });
      return message._tag === "Commit" && to === 2 ? undefined : message;
    };
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    cluster.tamper = (from, to, message) => (message._tag === "Ready" && from === 3 && to === 2 ? undefined : message);
    restart(cluster, 2);
    cluster.settle();
    const tell = (message: Message): void =>
      cluster.peers.get(2)?.dispatch({ _tag: "Deliver", from: 1, message, actors: [actor] });
    for (const message of commits.slice(0, 1)) tell(message);
    cluster.pass(200);
    expect(cluster.row(2, "slots", slotKey(1, 1))).toMatchObject({ outcome: "APPLIED", ack: undefined });
    expect(stateOf(cluster, 2).outbox.size).toBe(1);
    cluster.tamper = (from, to, message) => (from === 2 && to === 1 ? undefined : message);
    cluster.pass(1_000);
    for (const message of prepares) tell(message);
    expect(stateOf(cluster, 2).refused.size).toBe(0);
    expect(cluster.row(2, "slots", slotKey(1, 1))?.ack?.statement.kind).toBe("COMMIT_ACK");
  });

  it("counts no answer that was asked for by an earlier process", () => {
    const cluster = founded();
    const answers: Array<Message> = [];
    cluster.tamper = (_from, to, message) => {
      if (message._tag === "Ready" && to === 2) answers.push(message);
      return message._tag === "Ready" && to === 2 ? undefined : message;
    };
    restart(cluster, 2);
    cluster.pass(600);
    restart(cluster, 2);
    for (const message of answers)
      cluster.peers.get(2)?.dispatch({
        _tag: "Deliver",
        from: message._tag === "Ready" ? message.peerId : 0,
        message,
        actors: [],
      });
    expect(answers.length).toBeGreaterThan(1);
    expect(stateOf(cluster, 2).unproven.size).toBe(2);
  });
});

describe("a member that says less of itself than was seen of it before", () => {
  it("is unready, and named so", () => {
    const cluster = founded();
    cluster.register(1, "request", "alice", 7);
    cluster.pass(2_000);
    cluster.tamper = (from, _to, message) =>
      message._tag === "Ready" && from === 3 ? { ...message, batchNo: message.batchNo - 1 } : message;
    cluster.register(1, "next", "bob", 8);
    cluster.pass(100);
    expect(cluster.answers.get("next")).toMatchObject({
      rejection: { members: [{ peerId: 3, reason: "it ran from an old disk" }] },
    });
  });
});
