import { describe, expect, it } from "vitest";
import { actor, crypto, founded, whole } from "../../properties/cluster/Cluster.ts";
import { forgedBy } from "../../properties/cluster/Forging.ts";
import { comeBackOn, copyOf, declare, expectWhole, register, stateOf } from "../../properties/cluster/Restoring.ts";
import { slotKey } from "./Tables.ts";
import { proposalId } from "./Proposal.ts";

describe("a restored peer", () => {
  it("is not put out by what another incarnation of it signed, which reaches it before who has that incarnation on record", () => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(1));
    declare(cluster, 1);
    cluster.pass(5_000);
    const first = stateOf(cluster, 1).signed.chain.incarnation;
    cluster.tamper = (_from, to, message) => (to === 1 && message._tag === "Votes" ? undefined : message);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    expect(stateOf(cluster, 2).undecided.preparations.size).toBe(1);
    // The others ask their new writer about its own proposal; their word of its incarnations is on the way.
    cluster.clockOffset = -3_600_000;
    cluster.tamper = (_from, to, message) =>
      to === 1 && (message._tag === "Ready" || message._tag === "ReadyProbe") ? undefined : message;
    comeBackOn(cluster, 1, old);
    expect(stateOf(cluster, 1).signed.chain.incarnation).toBeLessThan(first);
    cluster.pass(4_000);
    expect(stateOf(cluster, 1).fitness.quarantine).toBeUndefined();
    expect(stateOf(cluster, 1).signed.chain.incarnation).toBeGreaterThan(first);
    cluster.tamper = whole;
    cluster.pass(15_000);
    expectWhole(cluster, 1);
  });

  it("answers the writer that waits for the end of what nobody else knows any more", () => {
    const cluster = founded();
    cluster.judge = (peerId) => (peerId === 1 ? actor : { _tag: "Refused", reason: "test" });
    cluster.tamper = (_from, _to, message) => (message._tag === "AbortRequest" ? undefined : message);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    expect(stateOf(cluster, 1).undecided.aborting.size).toBe(1);
    expect([stateOf(cluster, 2).undecided.refused.size, stateOf(cluster, 3).undecided.refused.size]).toEqual([1, 1]);
    // Each takes the registry from the other, whose refusal has not ended and is not offered.
    cluster.tamper = (from, _to, message) => {
      if (message._tag === "AbortRequest") return undefined;
      const isSpoilt = from === 1 && message._tag === "SnapshotOffer";
      return isSpoilt ? { ...message, cutoff: { ...message.cutoff, root: message.nonce } } : message;
    };
    for (const peerId of [2, 3]) {
      declare(cluster, peerId);
      cluster.pass(5_000);
      expect(stateOf(cluster, peerId).rejoining.recovery).toBeUndefined();
      expect(stateOf(cluster, peerId).undecided.refused.size).toBe(0);
    }
    cluster.tamper = whole;
    cluster.pass(15_000);
    expectWhole(cluster, 0);
    cluster.judge = () => actor;
    register(cluster, "alice", 7);
    expect(cluster.answers.get("register alice")).toMatchObject({ _tag: "Registered", created: true });
  });

  it("that is the writer goes on within what the others vote on, whatever it had reserved that nobody heard of", () => {
    const cluster = founded();
    cluster.tamper = (_from, _to, message) => (message._tag === "Prepare" ? undefined : message);
    for (let at = 0; at < 256; at++) cluster.register(1, `lost ${at}`, `id-${at}`, at);
    cluster.pass(8_000);
    expect(stateOf(cluster, 1).undecided.preparations.size).toBe(256);
    declare(cluster, 1);
    cluster.pass(5_000);
    expectWhole(cluster, 0);
    cluster.tamper = whole;
    register(cluster, "alice", 7);
    expect(cluster.answers.get("register alice")).toMatchObject({ _tag: "Registered", created: true });
    cluster.pass(2_000);
    expectWhole(cluster, 1);
  });

  it("acknowledges nothing to whoever shows it in the same breath that it ran from an old disk, and goes on running", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    declare(cluster, 2);
    cluster.pass(5_000);
    expectWhole(cluster, 1);
    const owed = cluster.row(2, "certificates", cluster.row(2, "slots", slotKey(1, 1))?.proposalId ?? "");
    if (owed === undefined) throw new Error("it has taken over the approver");
    const { incarnation, batchNo } = stateOf(cluster, 2).signed.chain;
    const proposal = { ...owed.proposal, seq: 2, incarnations: [1, incarnation, 1] };
    const about = { proposalId: proposalId(crypto, proposal), seq: 2 };
    const receipts = owed.receipts.map((receipt, at) =>
      forgedBy(cluster, at + 1, receipt, about, { incarnation: proposal.incarnations[at] ?? 1 }),
    );
    const sent: Array<string> = [];
    cluster.tamper = (from, _to, message) => {
      if (from === 2) sent.push(message._tag);
      return undefined;
    };
    const certificates = [owed, { proposal, receipts }];
    const message = { _tag: "Commit", certificates, acks: [], stableSeq: 0 } as const;
    cluster.peers.get(2)?.dispatch({ _tag: "Deliver", from: 1, message, actors: [] });
    expect(stateOf(cluster, 2).fitness.quarantine).toContain("does not remember it");
    expect(stateOf(cluster, 2).signed.chain.batchNo).toBe(batchNo);
    expect(sent).toEqual([]);
  });
});
