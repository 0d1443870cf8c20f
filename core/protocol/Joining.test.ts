import { NEWEST } from "../codec/Versioned.ts";
import { describe, expect, it } from "vitest";
import { actor, Cluster, crypto, NOW, whole, founded } from "../../properties/cluster/Cluster.ts";
import { announcedBy } from "../../properties/cluster/Forging.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { copyOf, stateOf } from "../../properties/cluster/Restoring.ts";
import { heard, openStep } from "../../properties/cluster/OpenStep.ts";
import type { MemoryTables } from "../../runtime/MemoryByteStore.ts";
import type { Digest } from "../base/Digest.ts";
import { SELF, slotKey } from "./Tables.ts";
import type { Step } from "./Step.ts";
import { beginJoining, join, onJoinAnswer, takeUp } from "./Joining.ts";
import type { Message } from "../Message.ts";
import type { Ready } from "./Message.ts";
import { freshRecovery } from "./TakingOver.ts";
import { BATCH_TAG, batchHeaderCodec } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";

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
    expect([...stateOf(cluster, 2).rejoining.unproven]).toEqual([3]);
    cluster.register(1, "early", "alice", 7);
    cluster.pass(100);
    expect(cluster.answers.get("early")).toMatchObject({
      _tag: "Rejected",
      rejection: { members: [{ peerId: 2, reason: "it is joining" }], outcomeUnknown: false },
    });
    const before = stateOf(cluster, 2).signed.chain;
    cluster.tamper = whole;
    cluster.pass(600);
    expect(stateOf(cluster, 2).rejoining.unproven.size).toBe(0);
    cluster.register(1, "later", "alice", 7);
    cluster.settle();
    expect(cluster.answers.get("later")).toMatchObject({ _tag: "Registered" });
    expect(stateOf(cluster, 2).signed.chain.batchNo).toBeGreaterThan(before.batchNo);
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
    for (const peerId of [1, 2, 3]) expect(stateOf(cluster, peerId).undecided.outbox.size).toBe(0);
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
      expect(stateOf(cluster, peerId).fitness.quarantine).toContain("does not remember it");
      cluster.register(3, "more", "bob", 8);
      cluster.pass(3_000);
      expect(cluster.answers.get("more")).toMatchObject({ _tag: "Rejected" });
      restart(cluster, peerId);
      cluster.pass(1_000);
      expect(stateOf(cluster, peerId).fitness.quarantine).toContain("does not remember it");
    });

  it("on the disk it left joins, whoever else was started at the same moment", () => {
    const cluster = founded();
    cluster.register(1, "request", "alice", 7);
    cluster.pass(1_000);
    for (const peerId of [1, 2, 3]) restart(cluster, peerId);
    cluster.pass(1_000);
    for (const peerId of [1, 2, 3]) expect(stateOf(cluster, peerId).rejoining.unproven.size).toBe(0);
  });

  it("is not put out by a claim that it has not signed, and still waits for that member", () => {
    const cluster = founded();
    const liar = cluster.keys.get(3);
    cluster.tamper = (from, to, message) => {
      if (message._tag !== "Ready" || from !== 3 || to !== 2 || liar === undefined) return message;
      const header = {
        version: NEWEST,
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
    expect(stateOf(cluster, 2).fitness.quarantine).toBeUndefined();
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
    expect(stateOf(cluster, 2).cluster.membership).toBeDefined();
    expect(stateOf(cluster, 2).fitness.quarantine).toContain("does not remember it");
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
    expect(stateOf(cluster, 3).fitness.integrityFault).toBeDefined();
    restart(cluster, 2);
    cluster.pass(3_000);
    expect([...stateOf(cluster, 2).rejoining.unproven]).toEqual([3]);
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
    expect(stateOf(cluster, 2).undecided.outbox.size).toBe(1);
    cluster.tamper = (from, to, message) => (from === 2 && to === 1 ? undefined : message);
    cluster.pass(1_000);
    for (const message of prepares) tell(message);
    expect(stateOf(cluster, 2).undecided.refused.size).toBe(0);
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
    expect(stateOf(cluster, 2).rejoining.unproven.size).toBe(2);
  });
});

describe("a member that says less of itself than was seen of it before", () => {
  it("is not ready, and named so", () => {
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

/** Of three members the second has just started, and no answer has reached it yet. */
const joining = () => {
  const cluster = founded();
  const answers = new Map<PeerId, Ready>();
  cluster.tamper = (from, to, message) => {
    if (message._tag !== "Ready" || to !== 2) return message;
    answers.set(from, message);
    return undefined;
  };
  restart(cluster, 2);
  cluster.settle();
  /** A member's answer, with some fields changed. */
  const answerOf = (from: PeerId, change: Partial<Ready> = {}): Ready => {
    const ready = answers.get(from);
    if (ready === undefined) throw new Error(`peer ${from} was not asked`);
    return { ...ready, ...change };
  };
  return { cluster, answerOf };
};

describe("a member's answer to a peer that is joining", () => {
  const { cluster, answerOf } = joining();
  const OTHER = "ab".repeat(32) as Digest;

  it("shows that nothing is forgotten as far as that member goes; with the last one the peer has joined", () => {
    const step = openStep(cluster, 2);
    onJoinAnswer(step, 3, answerOf(3));
    expect([...step.state.rejoining.unproven]).toEqual([1]);
    expect(step.state.requests.forgottenUntil.get(3)).toEqual(answerOf(3).moment);
    expect(step.state.rejoining.joinNonce).toBeDefined();
    onJoinAnswer(step, 1, answerOf(1));
    expect([...step.state.rejoining.unproven]).toEqual([]);
    expect(step.state.rejoining.joinNonce).toBeUndefined();
  });

  it.each<readonly [string, Partial<Ready>, (step: Step) => void]>([
    ["is another member's", { peerId: 1 }, () => undefined],
    ["has the nonce of another member", { nonce: answerOf(1).nonce }, () => undefined],
    ["was asked for by nobody", {}, (step) => void (step.draft("rejoining").joinNonce = undefined)],
    ["is unsigned, because it is sealed", { sealed: true }, () => undefined],
    ["comes from records that do not hold", { integrityOk: false }, () => undefined],
    ["is of another topology", { topologyDigest: OTHER }, () => undefined],
    [
      "comes before that member has its incarnation on record",
      {},
      (step) => {
        step.draft("rejoining").restored = announcedBy(cluster, 2, NOW, { recoveryId: OTHER });
      },
    ],
    ["meets a sealed peer", {}, (step) => void (step.draft("fitness").unsealed = false)],
    ["meets one in quarantine", {}, (step) => step.quarantine("the test")],
    [
      "meets one that is to begin another incarnation",
      {},
      (step) => {
        step.draft("rejoining").recovery = { ...freshRecovery("the test"), superseded: 5 };
      },
    ],
  ])("shows nothing where it %s", (_why, change, become) => {
    const step = openStep(cluster, 2);
    become(step);
    expect([...heard(step, 3, { _tag: "Ready", ...answerOf(3, change) }).state.rejoining.unproven]).toEqual([1, 3]);
  });

  it("shows nothing where it is itself what puts the peer in quarantine, which it does to no sealed one", () => {
    const header = {
      version: NEWEST,
      peerId: 2,
      incarnation: 1,
      batchNo: 1_000,
      prevBatchHash: OTHER,
      size: 1,
      root: OTHER,
      signedAt: NOW,
    };
    const signature = cluster.keys.get(2)?.sign(BATCH_TAG, batchHeaderCodec, header);
    if (signature === undefined) throw new Error("peer 2 has a key");
    for (const unsealed of [true, false]) {
      const step = openStep(cluster, 2);
      step.draft("fitness").unsealed = unsealed;
      const { state } = heard(step, 3, { _tag: "Ready", ...answerOf(3, { seen: { header, signature } }) });
      expect(state.fitness.quarantine !== undefined).toBe(unsealed);
      expect([...state.rejoining.unproven]).toEqual([1, 3]);
    }
  });

  it("is asked for by a peer that is joining and not sealed, with one nonce until all have answered", () => {
    const asked = (become: (step: Step) => void): ReadonlyArray<PeerId> => {
      const step = openStep(cluster, 2);
      become(step);
      join(step);
      return step.finish(() => undefined).thenSend.flatMap((each) => (each._tag === "Send" ? [each.to] : []));
    };
    expect(asked(() => undefined)).toEqual([1, 3]);
    expect(asked((step) => void step.edit("rejoining", "unproven").clear())).toEqual([]);
    expect(asked((step) => void (step.draft("fitness").unsealed = false))).toEqual([]);
    const step = openStep(cluster, 2);
    join(step);
    expect(step.state.rejoining.joinNonce).toBe(stateOf(cluster, 2).rejoining.joinNonce);
  });

  it("is waited for by a founder that has others, and by nobody who is alone", () => {
    const begun = (each: Cluster): Step => {
      const step = openStep(each, 1);
      step.timers.clear();
      beginJoining(step);
      return step;
    };
    expect([...begun(cluster).state.rejoining.unproven]).toEqual([2, 3]);
    expect([...begun(cluster).state.timers]).toEqual([["join", 20]]);
    expect([...begun(founded(1)).state.timers]).toEqual([]);
  });
});

describe("what a restart interrupted", () => {
  const { cluster, preparation } = prepared();
  const { id, proposal, own } = preparation;
  const open = { id, proposal, writerReceipt: own, votes: new Map(), preparedAt: 0, askedAt: 0 };

  it.each<readonly [string, ReadonlyArray<string>, (step: Step) => void]>([
    ["nothing", [], () => undefined],
    ["what is prepared", ["resolve"], (step) => void step.edit("undecided", "preparations").set(id, preparation)],
    [
      "what is refused",
      ["resolve"],
      (step) => void step.edit("undecided", "refused").set(id, { ...open, bindsSlot: true }),
    ],
    [
      "what is being aborted",
      ["resolve"],
      (step) => {
        step.edit("undecided", "aborting").set(id, { ...open, votes: [], acks: new Map() });
      },
    ],
    [
      "what is delivered",
      ["deliver"],
      (step) => {
        step.edit("undecided", "outbox").set(1, { id, seq: 1, proposal, acks: new Map(), dueAt: 0, isPrunable: false });
      },
    ],
    ["what may be cleared", ["prune"], (step) => void (step.draft("undecided").prunable = 1)],
  ])("goes on: %s", (_what, timers, become) => {
    const step = openStep(cluster, 2);
    step.edit("undecided", "preparations").clear();
    step.timers.clear();
    become(step);
    takeUp(step);
    expect([...step.state.timers.keys()]).toEqual(timers);
  });
});
