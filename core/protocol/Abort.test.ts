import { describe, expect, it, vi } from "vitest";
import { copyOf } from "../../properties/cluster/Restoring.ts";
import { actor, type Cluster, crypto, whole, founded } from "../../properties/cluster/Cluster.ts";
import { forgedBy } from "../../properties/cluster/Forging.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { forbidden, refusedBy } from "../../properties/cluster/Refused.ts";
import type { Digest } from "../base/Digest.ts";
import { slotKey } from "./Tables.ts";
import type { Message, MessageOf } from "../Message.ts";
import { proposalId } from "./Proposal.ts";
import type { SignedStatement } from "./Statement.ts";

const outcomes = (cluster: Cluster) =>
  [...cluster.tables.keys()].map((peerId) => cluster.row(peerId, "slots", slotKey(1, 1))?.outcome);
const locks = (cluster: Cluster) => [...cluster.peers.values()].map(({ state }) => state.undecided.locks.size);
const headOf = (cluster: Cluster, peerId: number) => cluster.tables.get(peerId)?.get("head")?.get("self")?.row;

describe("a refused proposal", () => {
  it("is aborted by all at once, and the same approver can be registered again", () => {
    const cluster = refusedBy(3, () => false);
    expect(outcomes(cluster)).toEqual(["ABORTED", "ABORTED", "ABORTED"]);
    expect(locks(cluster)).toEqual([0, 0, 0]);
    for (const { state } of cluster.peers.values()) {
      expect(state.undecided.preparations.size + state.undecided.refused.size + state.undecided.aborting.size).toBe(0);
      expect(state.undecided.decidedSeq).toBe(1);
    }
    cluster.judge = () => actor;
    cluster.register(2, "again", "alice", 7);
    cluster.settle();
    expect(cluster.answers.get("again")).toMatchObject({ _tag: "Registered", created: true });
  });

  it("stays locked where one vote is missing, through restarts, and is aborted when it comes", () => {
    const settling = new Set<Message["_tag"]>(["AbortRequest", "SettleQuery", "SettleAnswer"]);
    const cluster = refusedBy(3, (from, to, message) => settling.has(message._tag) && (from === 2 || to === 2));
    expect(outcomes(cluster)).toEqual(["PREPARED", "PREPARED", "REFUSED"]);
    expect(locks(cluster)).toEqual([3, 3, 0]);
    const own = [...(cluster.peers.get(1)?.state.undecided.preparations.values() ?? [])][0]?.pledge;
    expect(own?.statement).toMatchObject({ kind: "PLEDGE", detail: "3" });
    for (const peerId of [1, 3]) {
      cluster.peers.get(peerId)?.stop();
      cluster.start(peerId);
    }
    cluster.pass(20_000);
    expect(locks(cluster)).toEqual([3, 3, 0]);
    expect([...(cluster.peers.get(1)?.state.undecided.preparations.values() ?? [])][0]?.pledge).toEqual(own);
    cluster.tamper = whole;
    cluster.pass(10_000);
    expect(outcomes(cluster)).toEqual(["ABORTED", "ABORTED", "ABORTED"]);
    expect(locks(cluster)).toEqual([0, 0, 0]);
  });

  it("keeps its locks at the writer until every member has acknowledged the abort, through a restart", () => {
    const acknowledges = (message: Message) =>
      message._tag === "Votes" && message.statements.some(({ statement }) => statement.kind === "ABORT_ACK");
    const cluster = refusedBy(3, (from, _to, message) => from === 3 && acknowledges(message));
    expect(outcomes(cluster)).toEqual(["ABORTED", "ABORTED", "ABORTED"]);
    expect(locks(cluster)).toEqual([3, 0, 0]);
    cluster.peers.get(1)?.stop();
    cluster.start(1);
    cluster.pass(5_000);
    expect(locks(cluster)).toEqual([3, 0, 0]);
    cluster.tamper = whole;
    cluster.pass(6_000);
    expect(locks(cluster)).toEqual([0, 0, 0]);
    expect(cluster.tables.get(1)?.get("aborts")?.size).toBe(0);
  });

  it("is aborted among the others' initiative where the writer does not ask", () => {
    const cluster = refusedBy(3, (from, _to, message) => from === 1 && message._tag === "AbortRequest");
    expect(outcomes(cluster)).toEqual(["PREPARED", "PREPARED", "REFUSED"]);
    cluster.pass(20_000);
    expect(outcomes(cluster)).toEqual(["ABORTED", "ABORTED", "ABORTED"]);
  });

  it("asked about again is answered with the stored bytes and writes nothing", () => {
    const requests: Array<Message> = [];
    const cluster = refusedBy(3, (_from, to, message) => {
      if (message._tag === "AbortRequest" && to === 2) requests.push(message);
      return false;
    });
    const before = [1, 2, 3].map((peerId) => headOf(cluster, peerId));
    const votes: Array<Message> = [];
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "Votes") votes.push(message);
      return message;
    };
    expect(requests).not.toHaveLength(0);
    for (const message of requests) cluster.peers.get(2)?.dispatch({ _tag: "Deliver", from: 1, message, actors: [] });
    cluster.settle();
    expect(votes).toHaveLength(requests.length);
    expect([1, 2, 3].map((peerId) => headOf(cluster, peerId))).toEqual(before);
  });
});

describe("a member that has pledged on a refusal whose signer also prepared", () => {
  const contradictory = () => {
    const { cluster, preparation } = prepared();
    const refusal = forgedBy(cluster, 3, preparation.own, { kind: "REFUSAL", detail: "EXPIRED" });
    // The contradiction reaches peer 2 only; peer 1 collects the receipts and applies.
    cluster.tamper = (from, to, message) =>
      message._tag === "AbortRequest" || (message._tag === "Votes" && from === 2 && to === 1) ? undefined : message;
    cluster.peers.get(2)?.dispatch({
      _tag: "Deliver",
      from: 3,
      message: { _tag: "Votes", statements: [refusal] },
      actors: [],
    });
    expect(cluster.row(2, "preparations", preparation.id)?.state).toBe("PLEDGED");
    cluster.peers.get(1)?.dispatch({
      _tag: "Deliver",
      from: 2,
      message: { _tag: "Votes", statements: [preparation.own] },
      actors: [],
    });
    return { cluster, preparation };
  };

  it("does not apply the certificate, nor on the refuser's own acknowledgement", () => {
    const { cluster, preparation } = contradictory();
    cluster.tamper = (from, _to, message) =>
      message._tag === "AbortRequest" || (message._tag === "Commit" && from !== 3 && message.acks.length > 0)
        ? undefined
        : message;
    cluster.pass(30_000);
    expect(cluster.peers.get(1)?.state.registry.approvers).toBe(1);
    expect(cluster.peers.get(3)?.state.registry.approvers).toBe(1);
    expect(cluster.row(2, "preparations", preparation.id)?.state).toBe("PLEDGED");
  });

  it("applies it once a third member has, which proves who was faulty", () => {
    const { cluster } = contradictory();
    cluster.tamper = whole;
    cluster.pass(30_000);
    expect([...cluster.peers.values()].map(({ state }) => state.registry.approvers)).toEqual([1, 1, 1]);
    expect(locks(cluster)).toEqual([0, 0, 0]);
  });
});

describe("an abort vote", () => {
  const deliver = (cluster: Cluster, statement: SignedStatement): void =>
    cluster.peers.get(2)?.dispatch({
      _tag: "Deliver",
      from: 3,
      message: { _tag: "Votes", statements: [statement] },
      actors: [],
    });

  it("does not count at another incarnation than the recorded one, for another slot, or without its signature", () => {
    const { cluster, preparation } = prepared();
    const { own } = preparation;
    const before = headOf(cluster, 2);
    deliver(cluster, forgedBy(cluster, 3, own, { kind: "REFUSAL" }, { incarnation: 2 }));
    deliver(cluster, forgedBy(cluster, 3, own, { kind: "REFUSAL", seq: 2 }));
    deliver(cluster, { ...forgedBy(cluster, 3, own, { kind: "REFUSAL" }), signature: own.signature });
    expect(cluster.peers.get(2)?.state.undecided.preparations.get(preparation.id)?.votes.size).toBe(0);
    expect(headOf(cluster, 2)).toEqual(before);
  });

  it("that is a refusal counts although another vote of the same member came before it", () => {
    const { cluster, preparation } = prepared();
    deliver(cluster, forgedBy(cluster, 3, preparation.own, { kind: "PLEDGE", detail: "1" }));
    expect(cluster.row(2, "preparations", preparation.id)?.state).toBe("PREPARED");
    deliver(cluster, forgedBy(cluster, 3, preparation.own, { kind: "REFUSAL", detail: "EXPIRED" }));
    expect(cluster.row(2, "preparations", preparation.id)?.state).toBe("PLEDGED");
  });

  it.each([2, 500])("costs one look, though the same member repeats it %i times in one message", (times) => {
    const { cluster, preparation } = prepared();
    const forged = forgedBy(cluster, 3, preparation.own, { kind: "REFUSAL" });
    const copies = Array.from({ length: times }, (_, index) => ({
      ...forged,
      signature: index.toString(16).padStart(128, "0") as SignedStatement["signature"],
    }));
    const verify = vi.spyOn(crypto, "verify");
    cluster.peers.get(2)?.dispatch({
      _tag: "Deliver",
      from: 3,
      message: { _tag: "Votes", statements: copies },
      actors: [],
    });
    expect(verify.mock.calls.length).toBe(1);
    verify.mockRestore();
    expect(cluster.peers.get(2)?.state.undecided.preparations.get(preparation.id)?.votes.size).toBe(0);
  });

  it("of this peer's own that it does not remember puts it in quarantine", () => {
    const { cluster, preparation } = prepared();
    deliver(cluster, forgedBy(cluster, 2, preparation.own, { kind: "REFUSAL", detail: "EXPIRED" }));
    expect(cluster.peers.get(2)?.state.fitness.quarantine).toContain("does not remember");
  });

  it("is asked of a member that knows nothing of the proposal only with a refusal of it beside it", () => {
    const cluster = founded();
    cluster.tamper = (_from, to, message) =>
      message._tag === "Votes" || (message._tag === "Prepare" && to === 3) ? undefined : message;
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    const preparation = [...(cluster.peers.get(2)?.state.undecided.preparations.values() ?? [])][0];
    if (preparation === undefined) throw new Error("peer 2 has not prepared");
    const { proposal, writerReceipt, own } = preparation;
    const ask = (votes: ReadonlyArray<SignedStatement>): void =>
      cluster.peers.get(3)?.dispatch({
        _tag: "Deliver",
        from: 2,
        message: { _tag: "AbortRequest", items: [{ proposal, receipt: writerReceipt, votes }] },
        actors: [],
      });
    ask([]);
    ask([forgedBy(cluster, 2, own, { kind: "PLEDGE", detail: "1" })]);
    ask([forgedBy(cluster, 2, own, { kind: "REFUSAL", proposalId: "ab".repeat(32) as Digest })]);
    expect(cluster.peers.get(3)?.state.undecided.refused.size).toBe(0);
    ask([forgedBy(cluster, 2, own, { kind: "REFUSAL", detail: "EXPIRED" })]);
    expect(cluster.peers.get(3)?.state.undecided.refused.size).toBe(1);
    expect(cluster.row(3, "slots", slotKey(1, proposal.seq))?.outcome).toBe("REFUSED");
  });
});

describe("a member whose disk went back in time past its refusal", () => {
  it("is found out by the refusal, although it has signed another batch of the same number since", () => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(3));
    const late: Array<Message> = [];
    cluster.judge = (peerId) => (peerId === 3 ? forbidden : actor);
    cluster.tamper = (from, to, message) => {
      if (from === 3 && to === 1 && message._tag === "Votes") late.push(message);
      return from === 3 && message._tag === "Votes" ? undefined : message;
    };
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    cluster.peers.get(3)?.stop();
    cluster.tables.set(3, old);
    cluster.start(3);
    cluster.settle();
    cluster.judge = () => actor;
    cluster.pass(1_050);
    expect(outcomes(cluster)).toEqual(["PREPARED", "PREPARED", "PREPARED"]);
    cluster.tamper = whole;
    for (const message of late) cluster.peers.get(1)?.dispatch({ _tag: "Deliver", from: 3, message, actors: [] });
    cluster.settle();
    expect(cluster.peers.get(3)?.state.fitness.quarantine).toContain("does not remember it");
    expect(cluster.peers.get(3)?.state.registry.approvers).toBe(0);
  });

  it("proves by the writer's receipt how far slots are used, also after an abort and a restart", () => {
    const cluster = refusedBy(3, () => false);
    const before = [1, 2, 3].map((peerId) => cluster.peers.get(peerId)?.state.undecided.highProof);
    for (const peerId of [1, 2, 3]) {
      cluster.peers.get(peerId)?.stop();
      cluster.start(peerId);
    }
    expect(before.every((proof) => proof?.statement.seq === 1)).toBe(true);
    expect([1, 2, 3].map((peerId) => cluster.peers.get(peerId)?.state.undecided.highProof)).toEqual(before);
  });
});

describe("a second proposal for a slot that is bound", () => {
  it("is refused without binding it, aborted as a stray, and remembered as that", () => {
    const cluster = founded();
    const items: Array<MessageOf<"Prepare">["items"][number]> = [];
    cluster.tamper = (_from, to, message) => {
      if (message._tag === "Prepare" && to === 3) items.push(...message.items);
      return message._tag === "Votes" ? undefined : message;
    };
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    const [item] = items;
    if (item === undefined) throw new Error("nothing was proposed");
    const proposal = { ...item.proposal, expiresAt: item.proposal.expiresAt - 1 };
    const id = proposalId(crypto, proposal);
    const receipt = forgedBy(cluster, 1, item.receipt, { kind: "RECEIPT", proposalId: id });
    const tell = (message: Message): void =>
      cluster.peers.get(3)?.dispatch({ _tag: "Deliver", from: 1, message, actors: [actor] });
    tell({ _tag: "Prepare", items: [{ ...item, proposal, receipt }], stableSeq: 0 });
    const refusal = cluster.row(3, "refusals", id)?.refusal;
    expect(refusal?.statement.detail).toBe("SLOT_TAKEN");
    const pledge = forgedBy(cluster, 1, item.receipt, { kind: "PLEDGE", proposalId: id, detail: "3" });
    const other = forgedBy(cluster, 2, item.receipt, { kind: "REFUSAL", proposalId: id, detail: "SLOT_TAKEN" });
    const votes = [pledge, other, ...(refusal === undefined ? [] : [refusal])];
    tell({ _tag: "AbortRequest", items: [{ proposal, receipt, votes }] });
    expect(cluster.row(3, "strays", id)?.ack.statement.kind).toBe("ABORT_ACK");
    expect(cluster.row(3, "slots", slotKey(1, 1))).toMatchObject({ outcome: "PREPARED" });
    const before = headOf(cluster, 3);
    tell({ _tag: "AbortRequest", items: [{ proposal, receipt, votes }] });
    tell({ _tag: "Prepare", items: [{ ...item, proposal, receipt }], stableSeq: 0 });
    expect(headOf(cluster, 3)).toEqual(before);
    expect(cluster.peers.get(3)?.state.undecided.refused.size).toBe(0);
  });
});

describe("a writer that is shown a receipt of its own which it does not remember", () => {
  it("signs nothing more: its disk has gone back in time", () => {
    const { cluster, preparation } = prepared();
    const proposal = { ...preparation.proposal, seq: 2 };
    const id = proposalId(crypto, proposal);
    const receipt = forgedBy(cluster, 1, preparation.writerReceipt, { proposalId: id, seq: 2 });
    const message: Message = {
      _tag: "SettleQuery",
      items: [{ proposal, receipt }],
      demandFinal: false,
      nonce: preparation.id,
    };
    cluster.peers.get(1)?.dispatch({ _tag: "Deliver", from: 2, message, actors: [] });
    expect(cluster.peers.get(1)?.state.fitness.quarantine).toContain("does not remember");
  });
});
