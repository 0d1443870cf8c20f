import { describe, expect, it } from "vitest";
import { altered } from "../../properties/cluster/AlteredEffects.ts";
import { crypto, NOW } from "../../properties/cluster/Cluster.ts";
import { forgedBy } from "../../properties/cluster/Forging.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { register } from "../../properties/cluster/Restoring.ts";
import { fires, heard, openStep, type WholeStep } from "../../properties/cluster/OpenStep.ts";
import type { Digest } from "../base/Digest.ts";
import { CAPACITIES } from "../base/Capacities.ts";
import type { Delivery } from "./Undecided.ts";
import { numberKey, slotKey } from "./Tables.ts";
import type { StepResult } from "../Action.ts";
import {
  acknowledgeLate,
  commitCompleted,
  isOverdue,
  markStable,
  onCommit,
  onCommitAcks,
  onDeliverTimer,
  onPruneTimer,
  stableSeq,
} from "./Delivery.ts";
import type { BatchHeader, SignedStatement, Statement } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";

/** The certificate of what all four members have prepared; the second is asked to apply it. */
const { cluster, preparation } = prepared(4, (founded) => register(founded, "bob", 8));
const { id, proposal, own } = preparation;
const OTHER = "ab".repeat(32) as Digest;
const receipts = [1, 2, 3, 4].map((peerId) => forgedBy(cluster, peerId, own));

/** The changes that all have applied before. */
const bobsId = cluster.row(2, "slots", slotKey(1, 1))?.proposalId ?? OTHER;

/** The slots that a step reports as applied, as often as it does. */
const applied = ({ writes }: StepResult): ReadonlyArray<string> =>
  writes.flatMap((write) => (write.table === "outbox" && write.op === "insert" ? [write.key] : []));

/** The messages that a step sends, and their receivers, now or after its flush. */
const sent = ({ sendNow, thenSend }: StepResult) =>
  [...sendNow, ...thenSend].flatMap((action) => (action._tag === "Send" ? [{ to: action.to, ...action.message }] : []));

const acknowledgement = (
  by: PeerId,
  change: Partial<Statement> = {},
  header: Partial<BatchHeader> = {},
): SignedStatement => forgedBy(cluster, by, own, { kind: "COMMIT_ACK", ...change }, header);

/** The monotonic milliseconds at which the steps below deliver. */
const AT = 10_000;

/** A delivery of what all have prepared, acknowledged by some. */
const delivery = (seq: number, by: ReadonlyArray<PeerId>, change: Partial<Delivery> = {}): Delivery => ({
  id,
  seq,
  proposal: { ...proposal, seq },
  acks: new Map(by.map((peerId) => [peerId, acknowledgement(peerId)])),
  dueAt: AT,
  isPrunable: false,
  ...change,
});

/** A step of a peer that delivers these and has nothing else to do. */
const delivering = (peerId: PeerId, ...deliveries: ReadonlyArray<Delivery>): WholeStep => {
  const step = openStep(cluster, peerId, NOW, AT);
  step.edit("undecided", "preparations").clear();
  step.timers.clear();
  for (const each of deliveries) step.edit("undecided", "outbox").set(each.seq, each);
  step.draft("undecided").prunable = deliveries.filter((each) => each.isPrunable).length;
  return step;
};
const nothing = (): void => undefined;

describe("acknowledgements", () => {
  const { seq } = proposal;
  const ackedAt = (step: WholeStep): ReadonlyArray<PeerId> => [
    ...(step.state.undecided.outbox.get(seq)?.acks.keys() ?? []),
  ];

  it("count for the delivery that they are of, and show the newest batch of their signer", () => {
    const step = delivering(2, delivery(seq, [2]));
    const ack = acknowledgement(4, {}, { batchNo: 1_000 });
    onCommitAcks(step, { _tag: "CommitAcks", statements: [ack] });
    expect(ackedAt(step)).toEqual([2, 4]);
    expect(step.state.undecided.outbox.get(seq)?.isPrunable).toBe(false);
    expect(step.state.signed.seen.get(4)?.newest).toMatchObject({ signature: ack.signature });
  });

  it.each<readonly [string, SignedStatement]>([
    ["of another kind", forgedBy(cluster, 4, own)],
    ["of another proposal", acknowledgement(4, { proposalId: OTHER })],
    ["of a slot in which nothing is delivered", acknowledgement(4, { seq: seq + 1 })],
    ["of an incarnation that is not on record", acknowledgement(4, {}, { incarnation: 2 })],
    ["signed by another member", { ...acknowledgement(4), signature: acknowledgement(3).signature }],
  ])("do not count where one is %s, and the next one counts", (_which, bad) => {
    const step = delivering(2, delivery(seq, [2]));
    onCommitAcks(step, { _tag: "CommitAcks", statements: [bad, acknowledgement(3)] });
    expect(ackedAt(step)).toEqual([2, 3]);
  });

  it("are kept as they came first", () => {
    const step = delivering(2, delivery(seq, [2, 4]));
    onCommitAcks(step, { _tag: "CommitAcks", statements: [acknowledgement(4, {}, { batchNo: 1_000 })] });
    expect(step.state.undecided.outbox.get(seq)?.acks.get(4)?.header.batchNo).toBe(own.header.batchNo);
  });

  it("are not read by a sealed peer", () => {
    const step = delivering(2, delivery(seq, [2]));
    step.draft("fitness").unsealed = false;
    const { state } = heard(step, 4, { _tag: "CommitAcks", statements: [acknowledgement(4)] });
    expect([...(state.undecided.outbox.get(seq)?.acks.keys() ?? [])]).toEqual([2]);
  });

  it("of all end a delivery, and at the writer its locks", () => {
    const step = delivering(1, delivery(seq, [1, 2, 3]));
    expect([...step.state.undecided.locks.values()]).toContain(id);
    onCommitAcks(step, { _tag: "CommitAcks", statements: [acknowledgement(4)] });
    expect(step.state.undecided.outbox.get(seq)?.isPrunable).toBe(true);
    expect([...step.state.undecided.locks.values()]).not.toContain(id);
    expect(step.state.undecided.prunable).toBe(1);
  });

  it("that were owed while this peer was joining are signed together when it has joined, and go to all", () => {
    const owed = Array.from({ length: 2 * CAPACITIES.preparations }, (_, at) => delivery(10 + at, [1]));
    const step = delivering(2, delivery(seq, [2]), ...owed);
    acknowledgeLate(step);
    const taken = step.finish(nothing);
    const sizes = sent(taken).map((each) => [each.to, each._tag === "CommitAcks" ? each.statements.length : each._tag]);
    expect(sizes).toEqual([1, 3, 4, 1, 3, 4].map((to) => [to, CAPACITIES.preparations]));
    expect(taken.writes.filter(({ table }) => table === "slots")).toHaveLength(owed.length);
    expect([...taken.state.undecided.outbox.values()].every((each) => each.acks.has(2))).toBe(true);
  });
});

describe("what the writer says is acknowledged by all", () => {
  const deliveries = [delivery(10, [2]), delivery(11, []), delivery(12, [2]), delivery(13, [2])];
  const prunable = ({ state }: WholeStep) =>
    [...state.undecided.outbox.values()].flatMap((each) => (each.isPrunable ? each.seq : []));

  it("needs no delivery here, up to that slot, but where this peer has not acknowledged it itself", () => {
    const step = delivering(2, ...deliveries);
    markStable(step, 12);
    expect(prunable(step)).toEqual([10, 12]);
    markStable(step, 12);
    expect(step.state.undecided.prunable).toBe(2);
    expect(step.state.timers.get("prune")).toBe(AT + 50);
  });

  it("is believed of nobody else", () => {
    const told = (from: PeerId): WholeStep => {
      const step = delivering(2, ...deliveries);
      onCommit(step, from, { _tag: "Commit", certificates: [], acks: [], stableSeq: 12 });
      return step;
    };
    expect(prunable(told(3))).toEqual([]);
    expect(prunable(told(1))).toEqual([10, 12]);
  });

  it("makes room for what waits for acknowledgements", () => {
    const step = delivering(1);
    for (let seq = 1; seq <= CAPACITIES.unacknowledged; seq += 1)
      step.edit("undecided", "outbox").set(seq, delivery(seq, []));
    expect(isOverdue(step)).toBe(true);
    step.draft("undecided").prunable = 1;
    expect(isOverdue(step)).toBe(false);
  });

  it("ends below the first slot that is open with it in any way, and is all that it has used where none is", () => {
    const step = delivering(1, delivery(10, []), delivery(3, [], { isPrunable: true }));
    step.draft("undecided").highSeq = 20;
    expect(stableSeq(step)).toBe(9);
    step.edit("undecided", "preparations").set(id, { ...preparation, proposal: { ...proposal, seq: 8 } });
    expect(stableSeq(step)).toBe(7);
    const aborted = { id, writerReceipt: own, votes: [], acks: new Map(), preparedAt: 0, askedAt: 0 };
    step.edit("undecided", "aborting").set(id, { ...aborted, proposal: { ...proposal, seq: 6 } });
    expect(stableSeq(step)).toBe(5);
    const idle = delivering(1);
    idle.draft("undecided").highSeq = 20;
    expect(stableSeq(idle)).toBe(20);
  });
});

describe("an open delivery", () => {
  /** Peer 2 knows of bob's registration, and has its certificate. */
  const bobs = (seq: number, by: ReadonlyArray<PeerId>, change: Partial<Delivery> = {}): Delivery =>
    delivery(seq, by, { id: bobsId, ...change });
  const timer = (taken: StepResult) => taken.thenSend.flatMap((action) => (action._tag === "SetTimer" ? action : []));
  const fired = (...deliveries: ReadonlyArray<Delivery>): StepResult => {
    const step = delivering(2, ...deliveries);
    onDeliverTimer(step);
    return step.finish(nothing);
  };

  it("goes again to whoever has not acknowledged it, with this peer's own acknowledgement, and again a second later", () => {
    const taken = fired(bobs(10, [2, 3]));
    expect(sent(taken)).toMatchObject([1, 4].map((to) => ({ to, _tag: "Commit", acks: [{ header: { peerId: 2 } }] })));
    expect(sent(taken)).toMatchObject([{ certificates: [{ proposal: { seq: 1 } }] }, {}]);
    expect(taken.state.undecided.outbox.get(10)?.dueAt).toBe(AT + 1_000);
    expect(timer(taken)).toEqual([{ _tag: "SetTimer", timer: "deliver", afterMillis: 1_000 }]);
  });

  it("goes without an acknowledgement of a peer that has not made one", () => {
    expect(sent(fired(bobs(10, [3, 4])))).toMatchObject([{ to: 1, acks: [] }]);
  });

  it("waits until it is due, and so does the timer", () => {
    const taken = fired(bobs(10, [2], { dueAt: AT + 400 }), bobs(11, [2], { dueAt: AT + 300 }));
    expect(sent(taken)).toEqual([]);
    expect(timer(taken)).toEqual([{ _tag: "SetTimer", timer: "deliver", afterMillis: 300 }]);
    expect(taken.state.undecided.outbox.get(10)?.dueAt).toBe(AT + 400);
  });

  it("goes with another that is due, where it would be itself within half a second", () => {
    const soon = bobs(11, [2], { dueAt: AT + 500 });
    const taken = fired(bobs(10, [2]), soon, bobs(12, [2], { dueAt: AT + 501 }));
    expect(sent(taken)).toMatchObject([1, 3, 4].map((to) => ({ to, certificates: [{}, {}] })));
    expect([10, 11, 12].map((seq) => taken.state.undecided.outbox.get(seq)?.dueAt)).toEqual([
      AT + 1_000,
      AT + 1_000,
      AT + 501,
    ]);
  });

  it("is taken up at once where more are due than go into one message", () => {
    const many = Array.from({ length: CAPACITIES.proposalsPerMessage + 1 }, (_, at) => bobs(10 + at, [2, 3, 4]));
    const taken = fired(...many);
    expect(sent(taken)).toMatchObject([{ to: 1, certificates: { length: CAPACITIES.proposalsPerMessage } }]);
    expect(timer(taken)).toEqual([{ _tag: "SetTimer", timer: "deliver", afterMillis: 1 }]);
  });

  it("that all but this peer have acknowledged is told to nobody", () => {
    expect(sent(fired(bobs(10, [1, 3, 4])))).toEqual([]);
  });

  it("that has ended is told to nobody, and no timer waits for it", () => {
    const taken = fired(bobs(10, [2], { isPrunable: true }));
    expect(sent(taken)).toEqual([]);
    expect(timer(taken)).toEqual([]);
  });

  it("is not told by a sealed peer", () => {
    const step = delivering(2, bobs(10, [2]));
    step.draft("fitness").unsealed = false;
    expect(sent(fires(step, "deliver"))).toEqual([]);
  });
});

describe("a peer that has nothing to do", () => {
  const ended = delivery(10, [1, 2, 3, 4], { isPrunable: true });
  const pruned = (step: WholeStep): StepResult => {
    onPruneTimer(step);
    return step.finish(nothing);
  };
  const removed = ({ writes }: StepResult) => writes.filter(({ op, table }) => op === "remove" && table === "outbox");

  it("clears its outbox, and the writer tells the others that they may too", () => {
    const step = delivering(1, ended);
    step.draft("undecided").highSeq = 20;
    const taken = pruned(step);
    expect(removed(taken)).toEqual([{ op: "remove", table: "outbox", key: numberKey(10) }]);
    expect(sent(taken)).toMatchObject([2, 3, 4].map((to) => ({ to, certificates: [], acks: [], stableSeq: 20 })));
    const atMember = pruned(delivering(2, ended));
    expect(removed(atMember)).toHaveLength(1);
    expect(sent(atMember)).toEqual([]);
  });

  it.each<readonly [string, (step: WholeStep) => void]>([
    ["it is sealed", (step) => void (step.draft("fitness").unsealed = false)],
    ["something is prepared", (step) => void step.edit("undecided", "preparations").set(id, preparation)],
    ["something is delivered", (step) => void step.edit("undecided", "outbox").set(11, delivery(11, []))],
    [
      "there is nothing to clear",
      (step) => void (step.edit("undecided", "outbox").clear(), (step.draft("undecided").prunable = 0)),
    ],
  ])("is left as it is where %s", (_why, become) => {
    const step = delivering(1, ended);
    become(step);
    const taken = fires(step, "prune");
    expect(removed(taken)).toEqual([]);
    expect(sent(taken)).toEqual([]);
  });
});

describe("proposals whose receipts are complete", () => {
  const all = new Map(receipts.map((receipt, index) => [index + 1, receipt]));
  const completed = (step: WholeStep, ids: ReadonlyArray<Digest>): StepResult => {
    step.timers.clear();
    commitCompleted(step, ids);
    return step.finish(nothing);
  };

  it("are committed once, and go to all others before the flush, with what was stable before", () => {
    const step = openStep(cluster, 1);
    step.edit("undecided", "preparations").set(id, { ...preparation, receipts: all });
    const taken = completed(step, [id, OTHER, id]);
    expect(applied(taken)).toHaveLength(1);
    expect(taken.sendNow).toMatchObject(
      [2, 3, 4].map((to) => ({ to, message: { certificates: [{ receipts }], acks: [], stableSeq: proposal.seq - 1 } })),
    );
  });

  it("go in as many messages as they need", () => {
    const step = openStep(cluster, 1);
    step.edit("undecided", "preparations").clear();
    const ids = Array.from({ length: 2 * CAPACITIES.proposalsPerMessage }, (_, at) => crypto.sha256OfText(`${at}`));
    ids.forEach((each, at) => {
      const other = { ...altered(proposal, { ref: each, keyIdentity: each }), seq: 10 + at };
      step.edit("undecided", "preparations").set(each, { ...preparation, id: each, proposal: other, receipts: all });
    });
    expect(completed(step, ids).sendNow).toMatchObject(
      [2, 3, 4, 2, 3, 4].map((to) => ({ to, message: { certificates: { length: CAPACITIES.proposalsPerMessage } } })),
    );
  });

  it.each<readonly [string, Partial<typeof preparation>]>([
    ["a receipt is missing", { receipts: new Map([...all].slice(1)) }],
    ["this peer has pledged", { receipts: all, refusal: own }],
  ])("are not committed where %s", (_why, change) => {
    const step = openStep(cluster, 1);
    step.edit("undecided", "preparations").set(id, { ...preparation, ...change });
    const taken = completed(step, [id]);
    expect(applied(taken)).toEqual([]);
    expect([...taken.sendNow, ...taken.thenSend]).toEqual([]);
  });
});
