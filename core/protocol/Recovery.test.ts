import { describe, expect, it } from "vitest";
import { approverIn } from "../../properties/cluster/AlteredEffects.ts";
import { Cluster, crypto, NOW, whole, founded } from "../../properties/cluster/Cluster.ts";
import { forgedBy } from "../../properties/cluster/Forging.ts";
import { comeBackOn, copyOf, declare, expectWhole, register, stateOf } from "../../properties/cluster/Restoring.ts";
import { fires, heard, turnOf, type WholeTurn, wholeTurn } from "../../properties/cluster/TurnOf.ts";
import type { Digest } from "../base/Digest.ts";
import { Limits } from "../base/Limits.ts";
import type { Recovery, Transfer } from "./RecoveryState.ts";
import type { Refused } from "./Undecided.ts";
import { replaceApprover } from "../commands/approvers/Root.ts";
import { type RowView, SELF, slotKey } from "./Tables.ts";
import type { Step } from "../Action.ts";
import type { MessageOf } from "../Message.ts";
import type { Ready } from "./Message.ts";
import { nonceFor } from "./Readiness.ts";
import { beginDeclared, onDeclareRestore, onMemberAnswer, onRecoverTimer } from "./Recovery.ts";
import type { SignedStatement } from "./Statement.ts";
import { onSnapshotOffer, recover } from "./TakingOver.ts";
import type { PeerId } from "./Topology.ts";

describe("a declared restore", () => {
  for (const peerId of [1, 2])
    it(`brings back what peer ${peerId} lost, and changes go on`, () => {
      const cluster = founded();
      register(cluster, "alice", 7);
      const old = copyOf(cluster.tables.get(peerId));
      register(cluster, "bob", 8);
      register(cluster, "carol", 9);
      comeBackOn(cluster, peerId, old);
      expect(stateOf(cluster, peerId).recovery).toBeDefined();
      cluster.pass(5_000);
      expectWhole(cluster, 3);
      expect(stateOf(cluster, peerId).chain.incarnation).toBeGreaterThanOrEqual(NOW);
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
    expect(stateOf(cluster, 3).recovery?.waitsFor).toContain("takes the registry from peer 1");
    register(cluster, "bob", 8);
    expect(cluster.answers.get("register bob")).toMatchObject({
      _tag: "Rejected",
      rejection: { members: [{ peerId: 3, reason: "it is recovering" }], outcomeUnknown: false },
    });
    cluster.tamper = whole;
    cluster.pass(8_000);
    expectWhole(cluster, 1);
  });

  it("brings a quarantined peer back", () => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(2));
    register(cluster, "alice", 7);
    comeBackOn(cluster, 2, old, false);
    cluster.pass(1_000);
    expect(stateOf(cluster, 2).quarantine).toBeDefined();
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
    if (identity !== undefined) cluster.peers.get(2)?.unseal(identity);
    expect(stateOf(cluster, 2).recovery).toBeDefined();
    cluster.pass(5_000);
    expectWhole(cluster, 1);
  });

  it("signs nothing until every other member has it on record", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    cluster.tamper = (from, to, message) => (from === 3 && to === 2 && message._tag === "Ready" ? undefined : message);
    declare(cluster, 2);
    const before = stateOf(cluster, 2).chain;
    cluster.pass(10_000);
    expect(stateOf(cluster, 2).chain).toEqual(before);
    expect(stateOf(cluster, 2).recovery?.waitsFor).toContain("on record");
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
    const { incarnation } = stateOf(cluster, 2).chain;
    cluster.peers.get(2)?.stop();
    cluster.tamper = whole;
    cluster.start(2);
    expect(stateOf(cluster, 2).recovery).toBeDefined();
    cluster.pass(5_000);
    expectWhole(cluster, 1);
    expect(stateOf(cluster, 2).chain.incarnation).toBe(incarnation);
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
    const first = stateOf(cluster, 2).chain.incarnation;
    comeBackOn(cluster, 2, old);
    cluster.tamper = whole;
    cluster.pass(6_000);
    expectWhole(cluster, 1);
    expect(stateOf(cluster, 2).chain.incarnation).toBeGreaterThan(first);
  });

  it("takes a higher incarnation although the clock was set back", () => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(2));
    register(cluster, "alice", 7);
    declare(cluster, 2);
    cluster.pass(5_000);
    const first = stateOf(cluster, 2).chain.incarnation;
    cluster.clockOffset = -3_600_000;
    comeBackOn(cluster, 2, old);
    expect(stateOf(cluster, 2).chain.incarnation).toBeLessThan(first);
    cluster.pass(5_000);
    expect(stateOf(cluster, 2).chain.incarnation).toBe(first + 1);
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
    expect(stateOf(cluster, 2).quarantine).toContain("restored as incarnation");
  });
});

/** Of three members the second is being restored: it has been answered, and offered all there is, but not heard the offer. */
const restoring = () => {
  const cluster = founded();
  register(cluster, "alice", 7);
  const answers = new Map<PeerId, Ready>();
  const offers: Array<MessageOf<"SnapshotOffer">> = [];
  cluster.tamper = (from, to, message) => {
    if (message._tag === "Ready" && to === 2) answers.set(from, message);
    if (message._tag === "SnapshotOffer") offers.push(message);
    return message._tag === "SnapshotOffer" ? undefined : message;
  };
  declare(cluster, 2);
  cluster.pass(1_500);
  const [offer] = offers;
  const { recovery } = stateOf(cluster, 2);
  const { proposalId: id } = cluster.row(1, "slots", slotKey(1, 1)) ?? {};
  const receipt = id && cluster.row(1, "certificates", id)?.receipts[0];
  if (offer === undefined || recovery?.transfer === undefined || !receipt) throw new Error("nothing was offered");
  return { cluster, answers, offer, recovery, transfer: recovery.transfer, id, receipt };
};
const { cluster, answers, offer, recovery: underWay, transfer, id: alices, receipt } = restoring();
const AT = cluster.now;
const OTHER = "ab".repeat(32) as Digest;

/** A turn of the second, in the middle of its recovery but for what is different. */
const recovering = (change: Partial<Recovery> = {}): WholeTurn => {
  const turn = turnOf(cluster, 2, cluster.now, AT);
  turn.edit("timers").clear();
  turn.state.recovery = { ...underWay, ...change };
  return turn;
};
const moved = (change: Partial<Transfer>): Partial<Recovery> => ({ transfer: { ...transfer, ...change } });
const ended = (turn: WholeTurn): Step => turn.finish(() => undefined);
const sent = (turn: WholeTurn) =>
  ended(turn).thenSend.flatMap((action) => (action._tag === "Send" ? [{ to: action.to, ...action.message }] : []));

describe("what a peer that is being restored asks of all others", () => {
  /** A turn that has asked, and been answered by nobody. */
  const asking = (change: Partial<Recovery> = {}): WholeTurn =>
    recovering({ answers: new Map(), transfer: undefined, startedAt: AT, distrusted: new Set(), ...change });
  const answerOf = (turn: WholeTurn, from: PeerId, change: Partial<Ready> = {}): Ready => {
    const ready = answers.get(from);
    if (ready === undefined) throw new Error(`peer ${from} has not answered`);
    return { ...ready, nonce: nonceFor(turn, underWay.nonce ?? OTHER, from), ...change };
  };
  /** Both others answer: the first as it does, the third as it is said. */
  const answered = (turn: WholeTurn, change: Partial<Ready> = {}, firsts: Partial<Ready> = {}): WholeTurn => {
    onMemberAnswer(turn, 1, answerOf(turn, 1, firsts));
    onMemberAnswer(turn, 3, answerOf(turn, 3, change));
    return turn;
  };

  it("is answered by all before it takes the registry over from one, from the first slot on", () => {
    const turn = asking();
    onMemberAnswer(turn, 1, answerOf(turn, 1));
    expect(turn.state.recovery?.transfer).toBeUndefined();
    onMemberAnswer(turn, 3, answerOf(turn, 3));
    const from = {
      isShared: true,
      union: undefined,
      after: "",
      undone: false,
      empty: 0,
      applied: 0,
      decided: 0,
      sum: undefined,
      movedAt: AT,
      askedAt: AT,
    };
    expect(turn.state.recovery?.transfer).toEqual({ helper: 1, root: transfer.root, count: 1, ...from });
    const { recoveryId } = offer;
    expect(sent(turn)).toEqual([{ to: 1, _tag: "SnapshotRequest", recoveryId, nonce: underWay.nonce, after: "" }]);
  });

  it.each<readonly [string, Partial<Recovery>, (turn: WholeTurn, ready: Ready) => Ready | undefined]>([
    ["between two rounds", { nonce: undefined }, (_turn, ready) => ready],
    ["while it takes over already", { transfer }, (_turn, ready) => ready],
    ["that another member gave", {}, (_turn, ready) => ({ ...ready, peerId: 3 })],
    ["to another question", {}, (_turn, ready) => ({ ...ready, nonce: OTHER })],
    ["while it is sealed", {}, (turn, ready) => ((turn.state.unsealed = false), ready)],
    ["once it is a member again", {}, (turn, ready) => ((turn.state.recovery = undefined), ready)],
  ])("takes no answer %s", (_when, change, become) => {
    const turn = asking(change);
    const ready = become(turn, answerOf(turn, 1));
    const { recovery } = ready === undefined ? turn.state : heard(turn, 1, { _tag: "Ready", ...ready }).state;
    expect(recovery?.answers.size ?? 0).toBe(0);
  });

  it("takes the first of a member's answers", () => {
    const turn = asking();
    for (const clock of [1, 2]) onMemberAnswer(turn, 1, answerOf(turn, 1, { clock }));
    expect(turn.state.recovery?.answers.get(1)?.clock).toBe(1);
  });

  it.each<readonly [string, Partial<Ready>]>([
    ["it is sealed", { sealed: true }],
    ["its stored records do not hold", { integrityOk: false }],
    ["it belongs to another topology", { topologyDigest: OTHER }],
    ["it has not recorded the restore", { recorded: undefined }],
    ["it is joining", { mode: "joining" }],
    ["it is quarantined", { mode: "quarantined" }],
    ["something is undecided there", { uncommitted: 1 }],
  ])("takes over only what reads show where of one member %s", (found, change) => {
    const { recovery } = answered(asking(), change).state;
    expect(recovery?.transfer).toMatchObject({ helper: 1, isShared: false });
    const readable = answered(asking({ isReadable: true }), change).state.recovery;
    expect(readable).toMatchObject({ nonce: undefined, transfer: undefined, waitsFor: `peer 3: ${found}` });
    const neither = answered(asking(), change, change).state.recovery;
    expect(neither).toMatchObject({ nonce: undefined, transfer: undefined, waitsFor: `peer 1: ${found}` });
  });

  it("takes over only what reads show while not all have the restore on record, and from nobody who has not", () => {
    for (const [unproven, isShared] of [
      [3, false],
      [1, undefined],
    ] as const) {
      const turn = asking();
      turn.edit("unproven").add(unproven);
      answered(turn, { mode: "joining" });
      expect(turn.state.recovery?.transfer?.isShared).toBe(isShared);
    }
  });

  it.each<readonly [string, Partial<Ready>]>([
    ["another registry", { registryRoot: OTHER }],
    ["another number of approvers", { approvers: 2 }],
  ])("takes nothing over where one member has %s", (_what, change) => {
    const { recovery } = answered(asking(), change).state;
    expect(recovery).toMatchObject({ nonce: undefined, transfer: undefined });
    expect(recovery?.waitsFor).toContain("do not have the same registry");
  });

  it("takes over from who is no longer being restored, whatever who still is has, or has undecided", () => {
    const still = { mode: "recovering", uncommitted: 1, registryRoot: OTHER, approvers: 0 } as const;
    expect(answered(asking(), still).state.recovery?.transfer?.helper).toBe(1);
    expect(answered(asking(), {}, still).state.recovery?.transfer?.helper).toBe(3);
    expect(answered(asking(), still, still).state.recovery?.waitsFor).toContain("peer 1, the writer, puts together");
  });

  it("takes over from somebody whose offer did hold, and trusts all again where nobody's did", () => {
    const one = answered(asking({ distrusted: new Set([1]) })).state.recovery;
    expect([one?.transfer?.helper, [...(one?.distrusted ?? [])]]).toEqual([3, [1]]);
    const both = answered(asking({ distrusted: new Set([1, 3]) })).state.recovery;
    expect([both?.transfer?.helper, [...(both?.distrusted ?? [])]]).toEqual([1, []]);
  });

  describe("shows how far the writer has used its slots", () => {
    const proof = (by: PeerId, change: Partial<SignedStatement["statement"]> = {}): SignedStatement =>
      forgedBy(cluster, by, receipt, { seq: 5, ...change });

    it("with its receipt for the highest", () => {
      const { state } = answered(asking(), { highSeq: 5, highSeqProof: proof(1) });
      expect([state.highSeq, state.highProof]).toEqual([5, proof(1)]);
    });

    it.each<readonly [string, SignedStatement | undefined]>([
      ["without one", undefined],
      ["with one for another slot", proof(1, { seq: 4 })],
      ["with a vote of another kind", proof(1, { kind: "REFUSAL" })],
      ["with another member's receipt", proof(3)],
      ["with one that another member signed", { ...proof(1), signature: proof(3).signature }],
    ])("and not %s", (_how, highSeqProof) => {
      expect(answered(asking(), { highSeq: 5, highSeqProof }).state.highSeq).toBe(1);
    });
  });
});

describe("an offered page", () => {
  it("is installed, and the next one asked for after it; with the last the registry is added up", () => {
    const turn = recovering();
    onSnapshotOffer(turn, 1, { ...offer, upTo: slotKey(1, 1) });
    expect(turn.state.recovery?.transfer).toMatchObject({ after: slotKey(1, 1), applied: 1, sum: undefined });
    expect(sent(turn)).toMatchObject([{ to: 1, _tag: "SnapshotRequest", after: slotKey(1, 1) }]);
    const last = recovering(moved({ movedAt: 0 }));
    onSnapshotOffer(last, 1, offer);
    expect(last.state.recovery?.transfer).toMatchObject({ applied: 1, movedAt: AT, sum: { after: "", count: 0 } });
    expect(sent(last)).toEqual([]);
    expect(last.state.timers.get("recover")).toBe(AT + 1);
  });

  it("that ends a pass in which something was taken away begins another one", () => {
    const turn = recovering(moved({ undone: true, applied: 3 }));
    onSnapshotOffer(turn, 1, offer);
    expect(turn.state.recovery?.transfer).toMatchObject({ after: "", undone: false, applied: 0, sum: undefined });
    expect(sent(turn)).toMatchObject([{ _tag: "SnapshotRequest", after: "" }]);
  });

  const sum = { after: "", set: crypto.emptySet, count: 0, revisions: 0, isSound: true };
  it.each<readonly [string, PeerId, Partial<typeof offer>, (turn: WholeTurn) => void]>([
    ["from another member than the one that was asked", 3, {}, () => undefined],
    ["after another slot", 1, { after: slotKey(1, 1), items: [] }, () => undefined],
    ["for another restore", 1, { recoveryId: OTHER }, () => undefined],
    ["of another round", 1, { nonce: OTHER }, () => undefined],
    [
      "while the registry is added up",
      1,
      {},
      (turn) => void (turn.state.recovery = { ...underWay, transfer: { ...transfer, sum } }),
    ],
    ["where nobody was asked", 1, {}, (turn) => void (turn.state.recovery = { ...underWay, transfer: undefined })],
    ["once it is a member again", 1, {}, (turn) => void (turn.state.recovery = undefined)],
    ["while it is sealed", 1, {}, (turn) => void (turn.state.unsealed = false)],
    ["before all have the restore on record", 1, {}, (turn) => void turn.edit("unproven").add(3)],
  ])("is not looked at where it comes %s", (_how, from, change, become) => {
    const turn = recovering();
    become(turn);
    const before = turn.state.recovery;
    const { state, writes } = heard(turn, from, { ...offer, ...change });
    expect(state.recovery).toBe(before);
    expect(writes).toEqual([]);
  });

  it.each<readonly [string, Partial<typeof offer.cutoff>]>([
    ["topology", { topologyDigest: OTHER }],
    ["root", { root: OTHER }],
    ["number of approvers", { count: 2 }],
  ])("of another %s than the member had is not installed, and the next one is asked", (_what, change) => {
    const turn = recovering();
    onSnapshotOffer(turn, 1, { ...offer, cutoff: { ...offer.cutoff, ...change } });
    expect(turn.state.recovery).toMatchObject({ transfer: undefined, distrusted: new Set([1]) });
    expect(turn.state.recovery?.waitsFor).toContain("another registry");
    expect(ended(turn).writes).toEqual([]);
  });
});

describe("a page in which something does not hold", () => {
  it("is not installed, and the next member is asked", () => {
    const turn = recovering();
    onSnapshotOffer(turn, 1, { ...offer, items: offer.items.map((item) => ({ ...item, proposalId: OTHER })) });
    expect(turn.state.recovery).toMatchObject({ transfer: undefined, distrusted: new Set([1]) });
    expect(turn.state.recovery?.waitsFor).toContain("what does not hold");
    expect(ended(turn).writes).toEqual([]);
  });
});

describe("the registry that was taken over", () => {
  const sum = { after: "", set: crypto.emptySet, count: 0, revisions: 0, isSound: true };
  const added = (change: Partial<Transfer> = {}, become: (turn: WholeTurn) => void = () => undefined): WholeTurn => {
    const turn = recovering(moved({ applied: 1, sum, ...change }));
    become(turn);
    onRecoverTimer(turn);
    return turn;
  };

  it("makes the peer a member again where it comes to what was offered", () => {
    const { state, writes } = ended(added());
    expect([state.recovery, state.registry.approvers]).toEqual([undefined, 1]);
    expect(crypto.setDigest(state.registry.set)).toBe(transfer.root);
    expect(writes).toContainEqual(
      expect.objectContaining({
        table: "restore",
        key: SELF,
        row: { ...state.restored, recovering: false, lives: [1, state.chain.incarnation, 1] },
      }),
    );
  });

  it("says how far the slots go, whatever was taken away behind it", () => {
    expect(added({ decided: 7 }, (turn) => void (turn.state.decidedSeq = 400)).state.decidedSeq).toBe(7);
  });

  it.each<readonly [string, Partial<Transfer>]>([
    ["root", { root: OTHER }],
    ["number of approvers", { count: 2 }],
    ["number of changes", { applied: 2 }],
  ])("is not believed where it comes to another %s", (_what, change) => {
    const { state } = added(change);
    expect(state.recovery).toMatchObject({ transfer: undefined, distrusted: new Set([1]) });
    expect(state.recovery?.waitsFor).toContain("does not come to its root");
  });

  it("is added up a part at a time", () => {
    const proposal = offer.items[0]?.certificate?.proposal;
    const row = proposal && cluster.row(2, "approvers", approverIn(proposal).ref);
    if (row === undefined) throw new Error("alice is registered");
    const rows = Array.from({ length: 257 }, (_, at) => ({ key: `${1_000 + at}`, row: { ...row, revision: at + 1 } }));
    const set = rows.reduce((all, each) => replaceApprover(crypto, all, undefined, each.row), crypto.emptySet);
    const applied = (257 * 258) / 2;
    const start = recovering(moved({ root: crypto.setDigest(set), count: 257, applied, sum }));
    const { view } = start.context;
    const scan: RowView["scan"] = (_table, after, limit) =>
      rows.filter(({ key }) => key > after).slice(0, limit) as never;
    const turn = wholeTurn(start.state, {
      ...start.context,
      view: { get: (table, key) => view.get(table, key), scan },
    });
    onRecoverTimer(turn);
    expect(turn.state.recovery?.transfer?.sum).toMatchObject({
      after: "approvers/1255",
      count: 256,
      revisions: 32_896,
    });
    expect(turn.state.timers.get("recover")).toBe(AT + 1);
    onRecoverTimer(turn);
    expect([turn.state.recovery, turn.state.registry.approvers]).toEqual([undefined, 257]);
  });

  it("leaves slots that nobody votes on yet to the writer's new life, and to nobody else", () => {
    const far = (turn: WholeTurn): void => void (turn.state.highSeq = 1_000);
    expect(added({ decided: 1 }, far).state.highSeq).toBe(1_000);
    const atWriter = added({ decided: 1 }, (turn) => {
      far(turn);
      turn.state.membership = { ...turn.membership, writer: 2 };
    });
    expect(atWriter.state.highSeq).toBe(Limits.slotWindow);
  });

  it("ends refusals of what was decided elsewhere; the others stay, and bind no slot", () => {
    const refused = (id: Digest, seq: number): Refused => ({
      id,
      proposal: { epoch: 1, seq },
      bindsSlot: true,
      writerReceipt: receipt,
      votes: new Map(),
      preparedAt: 0,
      askedAt: 0,
    });
    const turn = added({}, (each) => {
      each.edit("refused").set(alices, refused(alices, 1)).set(OTHER, refused(OTHER, 2));
    });
    expect([...turn.state.refused.values()]).toEqual([{ ...refused(OTHER, 2), bindsSlot: false }]);
    const { writes } = ended(turn);
    expect(writes.filter(({ table }) => table === "refusals")).toEqual([
      { op: "remove", table: "refusals", key: alices },
    ]);
    expect(turn.state.timers.has("resolve")).toBe(true);
  });
});

describe("time, while a peer is being restored,", () => {
  const fired = (change: Partial<Recovery>): WholeTurn => {
    const turn = recovering(change);
    onRecoverTimer(turn);
    return turn;
  };

  it("leaves a member that goes on with its offer alone, asks it again after a second, and gives it up after five", () => {
    expect(sent(fired(moved({ movedAt: AT - 4_999, askedAt: AT - 999 })))).toEqual([]);
    const again = fired(moved({ movedAt: AT - 4_999, askedAt: AT - 1_000 }));
    expect(again.state.recovery?.transfer?.askedAt).toBe(AT);
    expect(sent(again)).toMatchObject([{ to: 1, _tag: "SnapshotRequest" }]);
    const silent = fired({ ...moved({ movedAt: AT - 5_000, askedAt: AT }), distrusted: new Set([3]) });
    expect(silent.state.recovery).toMatchObject({ nonce: undefined, transfer: undefined });
    // It may only be away.
    expect(silent.state.recovery?.distrusted).toEqual(new Set([3]));
    expect(silent.state.recovery?.waitsFor).toContain("does not go on");
  });

  it("begins a round, and another one after two seconds, which names who was silent", () => {
    const none = { transfer: undefined, answers: new Map() };
    const first = fired({ ...none, nonce: undefined, startedAt: AT, waitsFor: "the test" });
    expect(first.state.recovery).toMatchObject({ nonce: first.context.entropy, startedAt: AT, waitsFor: "the test" });
    expect(sent(first)).toMatchObject([1, 3].map((to) => ({ to, _tag: "ReadyProbe" })));
    expect(sent(fired({ ...none, startedAt: AT - 1_999 }))).toEqual([]);
    const one = new Map([...answers].filter(([peerId]) => peerId === 1));
    const next = fired({ ...none, answers: one, startedAt: AT - 2_000, isReadable: true });
    expect(next.state.recovery).toMatchObject({
      startedAt: AT,
      waitsFor: "peer 3 does not answer",
      answers: new Map(),
    });
    expect(sent(next)).toHaveLength(2);
    const lone = fired({ ...none, answers: one, startedAt: AT - 2_000, distrusted: new Set() });
    expect(lone.state.recovery?.transfer).toMatchObject({ helper: 1, isShared: false });
    const both = fired({ ...none, startedAt: AT - 2_000 });
    expect(both.state.recovery?.waitsFor).toBe("peer 1 does not answer; peer 3 does not answer");
  });

  it("does nothing to a sealed peer, or to one that is a member again", () => {
    for (const become of [
      (turn: WholeTurn) => void (turn.state.unsealed = false),
      (turn: WholeTurn) => void (turn.state.recovery = undefined),
    ]) {
      const turn = recovering(moved({ movedAt: 0 }));
      become(turn);
      const { state } = fires(turn, "recover");
      expect(state.timers.size).toBe(0);
      expect(state.recovery?.transfer?.movedAt ?? 0).toBe(0);
    }
    const member = turnOf(cluster, 1);
    member.edit("timers").clear();
    recover(member);
    expect(member.state.timers.size).toBe(0);
  });

  it("begins another life where this one was made to refuse more than an honest writer can have open", () => {
    const { incarnation } = stateOf(cluster, 2).chain;
    expect(fired({ writersOwn: Limits.preparations }).state.chain.incarnation).toBe(incarnation);
    expect(fired({ writersOwn: Limits.preparations + 1 }).state.chain.incarnation).toBeGreaterThan(incarnation);
  });

  it("changes nothing before all have the restore on record", () => {
    const turn = recovering(moved({ askedAt: 0 }));
    turn.edit("unproven").add(3);
    onRecoverTimer(turn);
    expect(turn.state.recovery?.transfer).toBeUndefined();
    expect(turn.state.recovery?.waitsFor).toContain("on record");
    expect(sent(turn)).toEqual([]);
  });
});

describe("declaring a restore", () => {
  it("takes away every row that is not final", () => {
    const turn = turnOf(cluster, 1, cluster.now, AT);
    const { proposal } = offer.items[0]?.certificate ?? {};
    if (proposal === undefined) throw new Error("alice is registered");
    const open = { id: OTHER, proposal, writerReceipt: receipt, votes: new Map(), preparedAt: 0, askedAt: 0 };
    const none = { own: receipt, receipts: new Map(), refusal: undefined, pledge: undefined };
    turn.edit("preparations").set(OTHER, { ...open, ...none });
    turn.edit("refused").set(OTHER, { ...open, bindsSlot: true });
    turn.edit("aborting").set(OTHER, { ...open, votes: [], acks: new Map() });
    turn.edit("outbox").set(9, { id: OTHER, seq: 9, proposal, acks: new Map(), dueAt: 0, isPrunable: true });
    turn.edit("locks").set("ref:x", OTHER);
    turn.state.prunable = 1;
    onDeclareRestore(turn, "declare");
    const { state, writes } = ended(turn);
    const removed = writes.flatMap(({ op, table }) => (op === "remove" ? [table] : []));
    expect(removed).toEqual(["preparations", "refusals", "aborts", "outbox"]);
    const left = [state.preparations, state.refused, state.aborting, state.outbox, state.locks].map(({ size }) => size);
    expect([...left, state.prunable]).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it("has nothing to restore on a peer that was never initialized", () => {
    const turn = turnOf(cluster, 1);
    turn.state.peer = undefined;
    turn.state.membership = undefined;
    onDeclareRestore(turn, "declare");
    expect(ended(turn).thenSend).toMatchObject([{ answer: { rejection: { code: "NOT_INITIALIZED" } } }]);
  });

  it("while it is sealed begins one life with the unseal, not another with each", () => {
    const turn = turnOf(cluster, 1, cluster.now, AT);
    turn.state.isDeclared = true;
    beginDeclared(turn);
    const { incarnation } = turn.state.chain;
    expect(incarnation).toBe(cluster.now);
    beginDeclared(turn);
    expect(turn.state.chain.incarnation).toBe(incarnation);
  });

  it("gives up a helper that offers page after page with nothing in it", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    const liar = (): number | undefined => stateOf(cluster, 3).recovery?.transfer?.helper;
    let [pages, first] = [0, 0];
    cluster.tamper = (from, to, message) => {
      if (message._tag !== "SnapshotOffer" || from !== (first === 0 ? liar() : first)) return whole(from, to, message);
      first = from;
      pages += 1;
      return { ...message, items: [], upTo: `z${String(pages).padStart(20, "0")}` };
    };
    declare(cluster, 3);
    cluster.pass(15_000);
    expect(pages).toBeLessThan(500);
    expectWhole(cluster, 1);
  });
});
