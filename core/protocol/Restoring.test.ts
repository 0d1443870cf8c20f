import { describe, expect, it } from "vitest";
import { Cluster, NOW, whole, founded, inUse } from "../../properties/cluster/Cluster.ts";
import { comeBackOn, copyOf, declare, expectWhole, register, stateOf } from "../../properties/cluster/Restoring.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import { beginDeclared, onDeclareRestore } from "./Recovery.ts";
import { AT, OTHER, cluster, ended, offer, receipt } from "../../properties/cluster/BeingRestored.ts";

describe("a declared restore", () => {
  for (const peerId of [1, 2])
    it(`brings back what peer ${peerId} lost, and changes go on`, () => {
      const cluster = founded();
      register(cluster, "alice", 7);
      const old = copyOf(cluster.tables.get(peerId));
      register(cluster, "bob", 8);
      register(cluster, "carol", 9);
      comeBackOn(cluster, peerId, old);
      expect(stateOf(cluster, peerId).rejoining.recovery).toBeDefined();
      cluster.pass(5_000);
      expectWhole(cluster, 3);
      expect(stateOf(cluster, peerId).signed.chain.incarnation).toBeGreaterThanOrEqual(NOW);
      register(cluster, "dave", 10, 3);
      expect(cluster.answers.get("register dave")).toMatchObject({ _tag: "Registered", created: true });
      cluster.pass(2_000);
      expectWhole(cluster, 4);
    });

  it("stops changes while it lasts, with the peer's name", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    cluster.tamper = (from, to, message) => (message._tag === "SnapshotOffer" ? undefined : whole(from, to, message));
    declare(cluster, 3);
    cluster.pass(3_000);
    expect(stateOf(cluster, 3).rejoining.recovery?.waitsFor).toContain("takes the registry from peer 1");
    register(cluster, "bob", 8);
    expect(cluster.answers.get("register bob")).toMatchObject({
      _tag: "Rejected",
      rejection: { members: [{ peerId: 3, reason: "it is recovering" }], outcomeUnknown: false },
    });
    cluster.tamper = whole;
    cluster.pass(8_000);
    expectWhole(cluster, 1);
  });

  it("is helped by another member where one gives nothing, as long as its rows are not verified", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    cluster.isWhole = (peerId) => peerId === 2;
    declare(cluster, 3);
    cluster.pass(20_000);
    expectWhole(cluster, 1);
  });

  it("waits until the rows of a helper are verified", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    cluster.isWhole = () => false;
    declare(cluster, 3);
    cluster.pass(20_000);
    expect(stateOf(cluster, 3).rejoining.recovery).toBeDefined();
    cluster.isWhole = () => true;
    cluster.pass(8_000);
    expectWhole(cluster, 1);
  });

  it("brings a quarantined peer back", () => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(2));
    register(cluster, "alice", 7);
    comeBackOn(cluster, 2, old, false);
    cluster.pass(1_000);
    expect(stateOf(cluster, 2).fitness.quarantine).toBeDefined();
    declare(cluster, 2);
    cluster.pass(5_000);
    expectWhole(cluster, 1);
  });

  it("declared while sealed begins before anything is signed", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    cluster.peers.get(2)?.dispatch({ _tag: "Sealed" });
    declare(cluster, 2);
    expect(cluster.answers.get("declare 2")).toEqual({ _tag: "Restoring", incarnation: undefined });
    const identity = cluster.keys.get(2);
    cluster.peers.get(2)?.dispatch({ _tag: "Verifying" });
    if (identity !== undefined) cluster.peers.get(2)?.unseal(inUse(identity));
    expect(stateOf(cluster, 2).rejoining.recovery).toBeDefined();
    cluster.pass(5_000);
    expectWhole(cluster, 1);
  });

  it("signs nothing until every other member has it on record", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    cluster.tamper = (from, to, message) => (from === 3 && to === 2 && message._tag === "Ready" ? undefined : message);
    declare(cluster, 2);
    const before = stateOf(cluster, 2).signed.chain;
    cluster.pass(10_000);
    expect(stateOf(cluster, 2).signed.chain).toEqual(before);
    expect(stateOf(cluster, 2).rejoining.recovery?.waitsFor).toContain("on record");
    cluster.tamper = whole;
    cluster.pass(5_000);
    expectWhole(cluster, 1);
  });

  it("is continued by the next process", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    cluster.tamper = (_from, _to, message) => (message._tag === "SnapshotOffer" ? undefined : message);
    declare(cluster, 2);
    cluster.pass(2_000);
    const { incarnation } = stateOf(cluster, 2).signed.chain;
    cluster.peers.get(2)?.stop();
    cluster.tamper = whole;
    cluster.start(2);
    expect(stateOf(cluster, 2).rejoining.recovery).toBeDefined();
    cluster.pass(5_000);
    expectWhole(cluster, 1);
    expect(stateOf(cluster, 2).signed.chain.incarnation).toBe(incarnation);
  });

  it("needs somebody else, and waits for a topology", () => {
    const alone = founded(1);
    declare(alone, 1);
    expect(alone.answers.get("declare 1")).toMatchObject({ rejection: { code: "RESTORE_IMPOSSIBLE" } });
    const unfounded = new Cluster(1, () => ({ peers: [2] }), 2);
    declare(unfounded, 1);
    expect(unfounded.answers.get("declare 1")).toEqual({ _tag: "Restoring", incarnation: undefined });
  });
});

describe("a second restore", () => {
  it("of the same peer, from an older disk, in the middle of the first, starts over", () => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(2));
    register(cluster, "alice", 7);
    cluster.tamper = (_from, _to, message) => (message._tag === "SnapshotOffer" ? undefined : message);
    declare(cluster, 2);
    cluster.pass(3_000);
    const first = stateOf(cluster, 2).signed.chain.incarnation;
    comeBackOn(cluster, 2, old);
    cluster.tamper = whole;
    cluster.pass(6_000);
    expectWhole(cluster, 1);
    expect(stateOf(cluster, 2).signed.chain.incarnation).toBeGreaterThan(first);
  });

  it("takes a higher incarnation although the clock was set back", () => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(2));
    register(cluster, "alice", 7);
    declare(cluster, 2);
    cluster.pass(5_000);
    const first = stateOf(cluster, 2).signed.chain.incarnation;
    cluster.clockOffset = -3_600_000;
    comeBackOn(cluster, 2, old);
    expect(stateOf(cluster, 2).signed.chain.incarnation).toBeLessThan(first);
    cluster.pass(5_000);
    expect(stateOf(cluster, 2).signed.chain.incarnation).toBe(first + 1);
    expectWhole(cluster, 1);
  });

  it("of two peers at once needs one that was not restored, and has it", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    const olds = [2, 3].map((peerId) => copyOf(cluster.tables.get(peerId)));
    register(cluster, "bob", 8);
    olds.forEach((old, index) => comeBackOn(cluster, index + 2, old));
    cluster.pass(6_000);
    expectWhole(cluster, 2);
  });

  it("is not undone by a disk from before the first: that one goes into quarantine", () => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(2));
    declare(cluster, 2);
    cluster.pass(5_000);
    expectWhole(cluster, 0);
    comeBackOn(cluster, 2, old, false);
    cluster.pass(1_000);
    expect(stateOf(cluster, 2).fitness.quarantine).toContain("restored as incarnation");
  });
});

describe("declaring a restore", () => {
  it("takes away every row that is not final", () => {
    const step = openStep(cluster, 1, cluster.now, AT);
    const { proposal } = offer.items[0]?.certificate ?? {};
    if (proposal === undefined) throw new Error("alice is registered");
    const open = { id: OTHER, proposal, writerReceipt: receipt, votes: new Map(), preparedAt: 0, askedAt: 0 };
    const none = { own: receipt, receipts: new Map(), refusal: undefined, pledge: undefined };
    step.edit("undecided", "preparations").set(OTHER, { ...open, ...none });
    step.edit("undecided", "refused").set(OTHER, { ...open, bindsSlot: true });
    step.edit("undecided", "aborting").set(OTHER, { ...open, votes: [], acks: new Map() });
    step
      .edit("undecided", "outbox")
      .set(9, { id: OTHER, seq: 9, proposal, acks: new Map(), dueAt: 0, isPrunable: true });
    step.edit("undecided", "locks").set("ref:x", OTHER);
    step.draft("undecided").prunable = 1;
    onDeclareRestore(step, "declare");
    const { state, writes } = ended(step);
    const removed = writes.flatMap(({ op, table }) => (op === "remove" ? [table] : []));
    expect(removed).toEqual(["preparations", "refusals", "aborts", "outbox"]);
    const left = [
      state.undecided.preparations,
      state.undecided.refused,
      state.undecided.aborting,
      state.undecided.outbox,
      state.undecided.locks,
    ].map(({ size }) => size);
    expect([...left, state.undecided.prunable]).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it("has nothing to restore on a peer that was never initialized", () => {
    const step = openStep(cluster, 1);
    step.draft("cluster").peer = undefined;
    step.draft("cluster").membership = undefined;
    onDeclareRestore(step, "declare");
    expect(ended(step).thenSend).toMatchObject([{ answer: { rejection: { code: "NOT_INITIALIZED" } } }]);
  });

  it("while it is sealed begins one incarnation with the unseal, not another with each", () => {
    const step = openStep(cluster, 1, cluster.now, AT);
    step.draft("rejoining").isDeclared = true;
    beginDeclared(step);
    const { incarnation } = step.state.signed.chain;
    expect(incarnation).toBe(cluster.now);
    beginDeclared(step);
    expect(step.state.signed.chain.incarnation).toBe(incarnation);
  });

  it("gives up a helper that offers page after page with nothing in it", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    const liar = (): number | undefined => stateOf(cluster, 3).rejoining.recovery?.transfer?.helper;
    let [pages, first] = [0, 0];
    cluster.tamper = (from, to, message) => {
      if (message._tag !== "SnapshotOffer" || from !== (first === 0 ? liar() : first)) return whole(from, to, message);
      first = from;
      pages += 1;
      return { ...message, items: [], alike: undefined, upTo: `z${String(pages).padStart(20, "0")}` };
    };
    declare(cluster, 3);
    cluster.pass(15_000);
    expect(pages).toBeLessThan(500);
    expectWhole(cluster, 1);
  });
});
