/** Which statements count towards an abort, and which do not, each for one reason alone. */
import { describe, expect, it } from "vitest";
import { type Cluster, crypto } from "../../properties/cluster/Cluster.ts";
import { forgedBy, receiptOfWriter } from "../../properties/cluster/Forging.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { refusedBy } from "../../properties/cluster/Refused.ts";
import { declare, stateOf } from "../../properties/cluster/Restoring.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import type { Digest } from "../base/Digest.ts";
import type { Aborting, Preparation } from "./Undecided.ts";
import { isAboutProposal } from "./Abort.ts";
import type { Message } from "../Message.ts";
import type { SettleItem } from "./Message.ts";
import { type Proposal, proposalId } from "./Proposal.ts";
import { type BatchHeader, type SignedStatement, type Statement, signerOf } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";

const OTHER = "ab".repeat(32) as Digest;

const show = (cluster: Cluster, to: PeerId, ...statements: ReadonlyArray<SignedStatement>): void =>
  cluster.peers.get(to)?.dispatch({ _tag: "Deliver", from: 3, message: { _tag: "Votes", statements }, actors: [] });
const hasVote = (message: Message, kind: Statement["kind"]): boolean =>
  message._tag === "Votes" && message.statements.some(({ statement }) => statement.kind === kind);

describe("a message about a proposal", () => {
  const { cluster, preparation } = prepared();
  const { proposal, writerReceipt } = preparation;
  const isActedOn = (item: SettleItem): boolean =>
    isAboutProposal(openStep(cluster, 3), proposalId(crypto, item.proposal), item);

  it("is acted on with the writer's receipt for it", () => {
    expect(isActedOn({ proposal, receipt: writerReceipt })).toBe(true);
  });

  it.each<readonly [string, Partial<Proposal>]>([
    ["other members", { topologyDigest: OTHER }],
    ["another epoch", { epoch: 2 }],
    ["another cluster", { clusterId: OTHER }],
    ["another writer", { writer: 2 }],
  ])("is not where that names %s, though the writer has signed a receipt for it", (_what, change) => {
    const lie = { ...proposal, ...change };
    expect(isActedOn({ proposal: lie, receipt: receiptOfWriter(cluster, lie, writerReceipt) })).toBe(false);
  });

  it("is not with another member's receipt, or with one for another slot", () => {
    expect(isActedOn({ proposal, receipt: forgedBy(cluster, 2, writerReceipt, {}) })).toBe(false);
    expect(isActedOn({ proposal, receipt: forgedBy(cluster, 1, writerReceipt, { seq: 2 }) })).toBe(false);
  });
});

describe("a vote for the end", () => {
  const votesOn = (cluster: Cluster, { id }: Preparation): Preparation["votes"] | undefined =>
    stateOf(cluster, 2).undecided.preparations.get(id)?.votes;

  it("is none that is of another kind: who has prepared has not voted for the end", () => {
    const { cluster, preparation } = prepared();
    const { proposal, writerReceipt, own } = preparation;
    const message: Message = {
      _tag: "AbortRequest",
      items: [{ proposal, receipt: writerReceipt, votes: [forgedBy(cluster, 3, own, {})] }],
    };
    cluster.peers.get(2)?.dispatch({ _tag: "Deliver", from: 3, message, actors: [] });
    expect(votesOn(cluster, preparation)?.size).toBe(0);
  });

  it("by a member itself counts when it is made, not when it is shown to it", () => {
    const { cluster, preparation } = prepared();
    const refusal = forgedBy(cluster, 2, preparation.own, { kind: "REFUSAL", detail: "EXPIRED" });
    // After the first of its own that does not hold, a member looks at no more of them.
    const unsigned = { ...forgedBy(cluster, 2, preparation.own, { kind: "PLEDGE" }), signature: refusal.signature };
    show(cluster, 2, unsigned, refusal);
    expect(votesOn(cluster, preparation)?.size).toBe(0);
    expect(stateOf(cluster, 2).fitness.quarantine).toBeUndefined();
  });

  it("that is a refusal stands, whatever its signer says after it", () => {
    const { cluster, preparation } = prepared();
    const { own } = preparation;
    const refusal = forgedBy(cluster, 3, own, { kind: "REFUSAL", detail: "EXPIRED" });
    show(cluster, 2, refusal);
    show(cluster, 2, forgedBy(cluster, 3, own, { kind: "PLEDGE", detail: "1" }));
    show(cluster, 2, forgedBy(cluster, 3, own, { kind: "REFUSAL", detail: "CLOCK_SKEW" }));
    expect(votesOn(cluster, preparation)?.get(3)).toEqual(refusal);
  });

  it("that is none stands until its signer refuses", () => {
    const { cluster, preparation } = prepared();
    const pledge = forgedBy(cluster, 3, preparation.own, { kind: "PLEDGE", detail: "1" });
    show(cluster, 2, pledge);
    show(cluster, 2, forgedBy(cluster, 3, preparation.own, { kind: "ABORT_ACK" }));
    expect(votesOn(cluster, preparation)?.get(3)).toEqual(pledge);
  });

  it("that is the first refusal is the one that is pledged on", () => {
    const { cluster, preparation } = prepared(4);
    for (const peerId of [3, 4]) show(cluster, 2, forgedBy(cluster, peerId, preparation.own, { kind: "REFUSAL" }));
    const { refusal, pledge, votes } = stateOf(cluster, 2).undecided.preparations.get(preparation.id) ?? preparation;
    expect([refusal && signerOf(refusal), pledge?.statement.detail]).toEqual([3, "3"]);
    expect([...votes.keys()]).toEqual([3, 2, 4]);
  });

  it("completes the end at who has refused, as it does at who has pledged", () => {
    const cluster = refusedBy(3, (_from, _to, { _tag }) => _tag === "AbortRequest");
    const [refused] = stateOf(cluster, 3).undecided.refused.values();
    if (refused === undefined) throw new Error("peer 3 has not refused");
    for (const peerId of [1, 2]) show(cluster, 3, forgedBy(cluster, peerId, refused.writerReceipt, { kind: "PLEDGE" }));
    expect(stateOf(cluster, 3).undecided.refused.size).toBe(0);
    expect(stateOf(cluster, 3).undecided.decidedSeq).toBe(1);
  });

  it("is counted by nobody who is recovering, who has nothing to say about the end", () => {
    const { cluster, preparation } = prepared();
    const kept = new Set<Message["_tag"]>(["SnapshotOffer", "AbortRequest", "Votes"]);
    cluster.tamper = (_from, _to, message) => (kept.has(message._tag) ? undefined : message);
    declare(cluster, 3);
    cluster.pass(4_000);
    const votes = [1, 2].map((peerId) => forgedBy(cluster, peerId, preparation.own, { kind: "PLEDGE", detail: "3" }));
    show(cluster, 3, ...votes);
    const { proposal, writerReceipt } = preparation;
    const message: Message = { _tag: "AbortRequest", items: [{ proposal, receipt: writerReceipt, votes }] };
    cluster.peers.get(3)?.dispatch({ _tag: "Deliver", from: 1, message, actors: [] });
    expect([...(stateOf(cluster, 3).undecided.refused.get(preparation.id)?.votes.keys() ?? [])]).toEqual([3]);
  });
});

describe("an acknowledgement of the end", () => {
  /** Everybody has aborted it, and the writer has not heard so from peer 3. */
  const unheard = () => {
    let heard = 0;
    // Peer 2 is heard once: its acknowledgement is its vote.
    const cluster = refusedBy(3, (from, _to, message) => {
      if (!hasVote(message, "ABORT_ACK")) return false;
      return from === 3 || (from === 2 && heard++ > 0);
    });
    const [aborting] = stateOf(cluster, 1).undecided.aborting.values();
    const ack = aborting?.acks.get(2);
    if (aborting === undefined || ack === undefined) throw new Error("it is not waited for");
    return { cluster, aborting, ack };
  };
  const waiting = (cluster: Cluster): ReadonlyArray<Aborting> => [...stateOf(cluster, 1).undecided.aborting.values()];

  it("counts for the writer though it came as a vote, beside the votes of all that made the end", () => {
    const { cluster, aborting } = unheard();
    expect([...aborting.acks.keys()]).toEqual([2, 1]);
    const votes = cluster.row(1, "aborts", aborting.id)?.votes.map(signerOf);
    expect(votes?.toSorted()).toEqual([1, 2, 3]);
  });

  it("of every member lets the writer drop its locks", () => {
    const { cluster, ack } = unheard();
    expect(stateOf(cluster, 1).undecided.locks.size).toBe(3);
    show(cluster, 1, forgedBy(cluster, 3, ack, {}));
    expect(waiting(cluster)).toEqual([]);
    expect(stateOf(cluster, 1).undecided.locks.size).toBe(0);
  });

  it.each<readonly [string, Partial<Statement>, Partial<BatchHeader>]>([
    ["a vote of another kind", { kind: "PLEDGE" }, {}],
    ["for another slot", { seq: 2 }, {}],
    ["of another incarnation of its signer", {}, { incarnation: 2 }],
  ])("is none that is %s", (_what, change, header) => {
    const { cluster, aborting, ack } = unheard();
    show(cluster, 1, forgedBy(cluster, 3, ack, change, header));
    expect(waiting(cluster)).toEqual([aborting]);
  });

  it("is none without its signature", () => {
    const { cluster, aborting, ack } = unheard();
    show(cluster, 1, { ...forgedBy(cluster, 3, ack, {}), signature: ack.signature });
    expect(waiting(cluster)).toEqual([aborting]);
  });

  it("is taken once from each member", () => {
    const { cluster, aborting, ack } = unheard();
    show(cluster, 1, forgedBy(cluster, 2, ack, {}));
    expect(waiting(cluster)).toEqual([aborting]);
  });
});
