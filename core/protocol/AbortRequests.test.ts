/** Abort requests: to which members, with which votes, and the answers. */
import { describe, expect, it } from "vitest";
import { type Cluster, crypto, founded } from "../../properties/cluster/Cluster.ts";
import { forgedBy, receiptOfWriter } from "../../properties/cluster/Forging.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { refusedBy } from "../../properties/cluster/Refused.ts";
import { declare, stateOf } from "../../properties/cluster/Restoring.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import type { Digest } from "../base/Digest.ts";
import { CAPACITIES } from "../base/Capacities.ts";
import { refusalOf, requestAborts, sendApplied } from "./Abort.ts";
import { type Decision, decisionOf } from "./Decision.ts";
import type { Message, MessageOf } from "../Message.ts";
import type { AbortItem, SettleItem } from "./Message.ts";
import { proposalId } from "./Proposal.ts";
import type { Refusing } from "./Lifecycle.ts";
import { type SignedStatement, signerOf } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";

const OTHER = "ab".repeat(32) as Digest;

describe("a refusal of what is unknown here", () => {
  /** A free slot, beside the one of the proposal. */
  const FREE = 2;
  const { cluster, preparation } = prepared();
  const { id, proposal, writerReceipt } = preparation;
  const stepOfThree = () => openStep(cluster, 3);
  const recovering = () => {
    const restored = founded();
    declare(restored, 3);
    const step = stepOfThree();
    step.draft("rejoining").recovery = stateOf(restored, 3).rejoining.recovery;
    return step;
  };
  const refusing = (step = stepOfThree(), seq = FREE, soFar: ReadonlyArray<Refusing> = []): Refusing | undefined =>
    refusalOf(step, id, { proposal: { ...proposal, seq }, receipt: writerReceipt }, "EXPIRED", soFar);

  it("is given where there can be slots: from the first to the end of the window", () => {
    const seqs = [0, 1, CAPACITIES.slotWindow, CAPACITIES.slotWindow + 1];
    expect(seqs.map((seq) => refusing(stepOfThree(), seq) !== undefined)).toEqual([false, true, true, false]);
  });

  it("is given past the window by who is recovering, and does not know how far the slots go", () => {
    const seqs = [0, 1, CAPACITIES.slotWindow + 1];
    expect(seqs.map((seq) => refusing(recovering(), seq) !== undefined)).toEqual([false, true, true]);
  });

  it("is given up to as many as all undecided slots may take, those of the same message among them", () => {
    const most = CAPACITIES.refusals + CAPACITIES.preparations;
    const [refused] = stateOf(
      refusedBy(3, (_from, _to, { _tag }) => _tag === "AbortRequest"),
      3,
    ).undecided.refused.values();
    const one = refusing();
    if (refused === undefined || one === undefined) throw new Error("there was room");
    const stepWith = (count: number) => {
      const step = stepOfThree();
      step.draft("undecided").refused = new Map(
        Array.from({ length: count }, (_, index) => [`${index}` as Digest, refused]),
      );
      return step;
    };
    expect(refusing(stepWith(most - 1))).toBeDefined();
    expect(refusing(stepWith(most - 1), FREE, [one])).toBeUndefined();
    expect(refusing(stepWith(most))).toBeUndefined();
  });

  it("binds the slot, unless something has it here, or in the same message, or its signer is recovering", () => {
    const free = refusing();
    if (free === undefined) throw new Error("it is refused");
    const bindsSlot = (...given: Parameters<typeof refusing>): boolean | undefined => refusing(...given)?.bindsSlot;
    expect(free.bindsSlot).toBe(true);
    expect(bindsSlot(stepOfThree(), proposal.seq)).toBe(false);
    expect(bindsSlot(recovering())).toBe(false);
    expect(bindsSlot(stepOfThree(), FREE, [free])).toBe(false);
    expect(bindsSlot(stepOfThree(), FREE + 1, [free])).toBe(true);
    expect(bindsSlot(stepOfThree(), FREE, [{ ...free, bindsSlot: false }])).toBe(true);
  });
});

describe("who lacks votes for the end", () => {
  type Asked = { readonly from: PeerId; readonly to: PeerId } & MessageOf<"AbortRequest">;

  /** The members' requests in some time to come, none of which arrives, nor any answer. */
  const askedIn = (cluster: Cluster, millis: number): ReadonlyArray<Asked> => {
    const asked: Array<Asked> = [];
    cluster.tamper = (from, to, message) => {
      if (message._tag === "AbortRequest") asked.push({ from, to, ...message });
      return undefined;
    };
    cluster.pass(millis);
    return asked;
  };
  const signersIn = ({ items }: Asked): ReadonlyArray<ReadonlyArray<PeerId>> =>
    items.map(({ votes }) => votes.map(signerOf).toSorted());

  it("shows its own refusal when it asks", () => {
    const cluster = refusedBy(3, (from, _to, { _tag }) => from === 3 && _tag === "Votes");
    const asked = askedIn(cluster, 1_500).filter(({ from }) => from === 3);
    expect(asked.map(({ to }) => to)).toEqual([1, 2]);
    expect(asked.map(signersIn)).toEqual([[[3]], [[3]]]);
  });

  it("asks those alone that have not voted, or at the writer not acknowledged, and shows all votes to them", () => {
    const cluster = refusedBy(3, (from, _to, message) => {
      if (message._tag !== "Votes" || from !== 3) return false;
      return message.statements.some(({ statement }) => statement.kind === "ABORT_ACK");
    });
    const asked = askedIn(cluster, 1_500);
    expect(asked.map(({ from, to }) => [from, to])).toEqual([[1, 3]]);
    expect(asked.map(signersIn)).toEqual([[[1, 2, 3]]]);
  });

  it("passes all votes on once, where it is the writer and its own pledge is the last of them", () => {
    const { cluster, preparation } = prepared();
    const { own } = preparation;
    const told: Array<PeerId> = [];
    cluster.tamper = (from, to, message) => {
      if (from === 1 && message._tag === "AbortRequest") told.push(to);
      return undefined;
    };
    const statements = [
      forgedBy(cluster, 3, own, { kind: "REFUSAL", detail: "EXPIRED" }),
      forgedBy(cluster, 2, own, { kind: "PLEDGE", detail: "3" }),
    ];
    cluster.peers.get(1)?.dispatch({ _tag: "Deliver", from: 3, message: { _tag: "Votes", statements }, actors: [] });
    expect(told).toEqual([2, 3]);
  });

  it("asks for no more at once than a message can carry", () => {
    const { cluster, preparation } = prepared();
    const step = openStep(cluster, 2);
    const ids = Array.from({ length: CAPACITIES.proposalsPerMessage + 1 }, (_, index) => `${index}` as Digest);
    step.draft("undecided").preparations = new Map(ids.map((id) => [id, { ...preparation, id }]));
    requestAborts(step, ids);
    const { thenSend } = step.finish(() => undefined);
    const counts = thenSend.map((action) =>
      action._tag === "Send" && action.message._tag === "AbortRequest" ? action.message.items.length : 0,
    );
    expect(counts).toEqual([CAPACITIES.proposalsPerMessage, 1, CAPACITIES.proposalsPerMessage, 1]);
  });
});

describe("who is asked for its vote for the end", () => {
  /** Peer 3's answer to peer 2. */
  const answersTo = (cluster: Cluster, item: AbortItem): ReadonlyArray<Message> => {
    const answers: Array<Message> = [];
    cluster.tamper = (from, to, message) => {
      if (from === 3 && to === 2) answers.push(message);
      return undefined;
    };
    const message: Message = { _tag: "AbortRequest", items: [item] };
    cluster.peers.get(3)?.dispatch({ _tag: "Deliver", from: 2, message, actors: [] });
    return answers;
  };
  const votes = (...statements: ReadonlyArray<SignedStatement>): ReadonlyArray<Message> => [
    { _tag: "Votes", statements },
  ];
  const settled = (cluster: Cluster): SettleItem => {
    const [preparation] = stateOf(cluster, 2).undecided.preparations.values();
    if (preparation === undefined) throw new Error("peer 2 has not prepared");
    return { proposal: preparation.proposal, receipt: preparation.writerReceipt };
  };

  it("answers with its receipt where nobody has refused", () => {
    const { cluster } = prepared();
    const item = settled(cluster);
    const [own] = stateOf(cluster, 3).undecided.preparations.values();
    expect(own).toBeDefined();
    expect(answersTo(cluster, { ...item, votes: [] })).toEqual(votes(...(own ? [own.own] : [])));
  });

  it("answers with its pledge where somebody has", () => {
    const { cluster, preparation } = prepared();
    const refusal = forgedBy(cluster, 2, preparation.own, { kind: "REFUSAL", detail: "EXPIRED" });
    expect(answersTo(cluster, { ...settled(cluster), votes: [refusal] })).toMatchObject([
      { _tag: "Votes", statements: [{ statement: { kind: "PLEDGE", detail: "2" } }] },
    ]);
  });

  it("counts no vote that comes with another proposal, on which it would not pledge", () => {
    const { cluster, preparation } = prepared();
    const refusal = forgedBy(cluster, 2, preparation.own, { kind: "REFUSAL", detail: "EXPIRED" });
    const proposal = { ...preparation.proposal, seq: preparation.proposal.seq + 1 };
    const receipt = receiptOfWriter(cluster, proposal, preparation.writerReceipt);
    answersTo(cluster, { proposal, receipt, votes: [refusal] });
    const [own] = stateOf(cluster, 3).undecided.preparations.values();
    expect(own).toMatchObject({ refusal: undefined, pledge: undefined });
  });

  it("answers with its refusal where it has refused itself", () => {
    const cluster = refusedBy(3, (_from, _to, { _tag }) => _tag === "AbortRequest");
    expect(answersTo(cluster, { ...settled(cluster), votes: [] })).toMatchObject([
      { _tag: "Votes", statements: [{ statement: { kind: "REFUSAL" }, header: { peerId: 3 } }] },
    ]);
  });

  it("answers with the certificate where it has applied it, and with its acknowledgement", () => {
    const cluster = founded();
    cluster.tamper = (_from, to, message) => (message._tag === "Commit" && to === 2 ? undefined : message);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    const ack = { statement: { kind: "COMMIT_ACK" }, header: { peerId: 3 } };
    const item = settled(cluster);
    expect(answersTo(cluster, { ...item, votes: [] })).toMatchObject([
      { _tag: "Commit", certificates: [{ proposal: item.proposal }], acks: [ack], stableSeq: 0 },
      { _tag: "Votes", statements: [ack] },
    ]);
  });

  it("says nothing about what is not the writer's proposal to these members, whatever votes come with it", () => {
    const { cluster, preparation } = prepared();
    const proposal = { ...preparation.proposal, clusterId: OTHER };
    const receipt = receiptOfWriter(cluster, proposal, preparation.writerReceipt);
    const id = proposalId(crypto, proposal);
    const refusal = forgedBy(cluster, 2, preparation.own, { kind: "REFUSAL", proposalId: id });
    expect(answersTo(cluster, { proposal, receipt, votes: [refusal] })).toEqual([]);
    expect(stateOf(cluster, 3).undecided.refused.size).toBe(0);
  });

  describe("and has decided", () => {
    const cluster = founded();
    cluster.tamper = (_from, to, message) => (message._tag === "Commit" && to === 2 ? undefined : message);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    const { proposal } = settled(cluster);
    const id = proposalId(crypto, proposal);
    const sent = (decided: ReadonlyArray<readonly [Digest, Decision]>) => {
      const step = openStep(cluster, 3);
      sendApplied(step, 2, new Map(decided));
      return step.finish(() => undefined).thenSend;
    };
    const decision = decisionOf(openStep(cluster, 3).context.view, id, proposal);
    if (decision === undefined) throw new Error("peer 3 has not applied it");

    it("sends no certificate of what has none: what was aborted", () => {
      expect(sent([[OTHER, { ...decision, outcome: "ABORTED" }]])).toEqual([]);
    });

    it("sends the certificate of what it has applied and not acknowledged", () => {
      expect(sent([[id, { ...decision, ack: undefined }]])).toMatchObject([
        { to: 2, message: { certificates: [{ proposal }], acks: [] } },
      ]);
    });
  });
});
