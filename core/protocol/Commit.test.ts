import { describe, expect, it } from "vitest";
import { altered, approverIn, asReplacement } from "../../properties/cluster/AlteredEffects.ts";
import { crypto } from "../../properties/cluster/Cluster.ts";
import { forgedBy } from "../../properties/cluster/Forging.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { register } from "../../properties/cluster/Restoring.ts";
import { heard, openStep, type WholeStep } from "../../properties/cluster/OpenStep.ts";
import type { Digest } from "../base/Digest.ts";
import { slotKey } from "./Tables.ts";
import type { StepResult } from "../Action.ts";
import type { Certificate } from "./Certificate.ts";
import { onCommit } from "./Delivery.ts";
import type { MessageOf } from "../Message.ts";
import { freshRecovery } from "./TakingOver.ts";
import { type Proposal, proposalId } from "./Proposal.ts";
import type { BatchHeader, SignedStatement, Statement } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";

/** The certificate of what all four members have prepared; the second is asked to apply it. */
const { cluster, preparation } = prepared(4, (founded) => register(founded, "bob", 8));
const { id, proposal, own } = preparation;
const OTHER = "ab".repeat(32) as Digest;
const receipts = [1, 2, 3, 4].map((peerId) => forgedBy(cluster, peerId, own));
const certificate: Certificate = { proposal, receipts };

/** The changes that all have applied before. */
const bobsId = cluster.row(2, "slots", slotKey(1, 1))?.proposalId ?? OTHER;
const bobsCertificate = cluster.row(2, "certificates", bobsId);
if (bobsCertificate === undefined) throw new Error("bob is registered");

const commit = (step: WholeStep, change: Partial<MessageOf<"Commit">> = {}, from: PeerId = 1): StepResult => {
  onCommit(step, from, { _tag: "Commit", certificates: [certificate], acks: [], stableSeq: 0, ...change });
  return step.finish(() => undefined);
};

/** The slots that a step reports as applied, as often as it does. */
const applied = ({ writes }: StepResult): ReadonlyArray<string> =>
  writes.flatMap((write) => (write.table === "outbox" && write.op === "insert" ? [write.key] : []));

/** The messages that a step sends, and their receivers, now or after its flush. */
const sent = ({ sendNow, thenSend }: StepResult) =>
  [...sendNow, ...thenSend].flatMap((action) => (action._tag === "Send" ? [{ to: action.to, ...action.message }] : []));

/** The certificate of a proposal like that one, which this peer has prepared too. */
const preparedToo = (step: WholeStep, change: Partial<Proposal>): Certificate => {
  const other = { ...proposal, ...change };
  const about = { proposalId: proposalId(crypto, other), seq: other.seq };
  step
    .edit("undecided", "preparations")
    .set(about.proposalId, { ...preparation, id: about.proposalId, proposal: other });
  return { proposal: other, receipts: [1, 2, 3, 4].map((peerId) => forgedBy(cluster, peerId, own, about)) };
};

const acknowledgement = (
  by: PeerId,
  change: Partial<Statement> = {},
  header: Partial<BatchHeader> = {},
): SignedStatement => forgedBy(cluster, by, own, { kind: "COMMIT_ACK", ...change }, header);

describe("a certificate", () => {
  it("is applied once, however often it is in the message, and acknowledged to who sent it", () => {
    const taken = commit(openStep(cluster, 2), { certificates: [certificate, certificate] }, 3);
    expect(applied(taken)).toHaveLength(1);
    expect(sent(taken)).toMatchObject([
      { to: 3, _tag: "CommitAcks", statements: [{ statement: { kind: "COMMIT_ACK", proposalId: id } }] },
    ]);
  });

  it("that is applied already is answered with the acknowledgement that is stored, and nothing is written", () => {
    const taken = commit(openStep(cluster, 2), { certificates: [bobsCertificate] }, 3);
    const ack = cluster.row(2, "slots", slotKey(1, 1))?.ack;
    expect(sent(taken)).toEqual([{ to: 3, _tag: "CommitAcks", statements: [ack] }]);
    expect(taken.writes).toEqual([]);
  });

  it("is applied beside others", () => {
    const step = openStep(cluster, 2);
    const { effects } = altered(proposal, { ref: OTHER, keyIdentity: OTHER });
    const other = preparedToo(step, { seq: proposal.seq + 1, effects });
    expect(applied(commit(step, { certificates: [certificate, other] }))).toHaveLength(2);
  });

  it("gives a new key its owner, and a member its locks back, while the writer keeps its own", () => {
    const { id: owner, keyIdentity } = approverIn(proposal);
    const { writes, state } = commit(openStep(cluster, 2));
    expect(writes).toContainEqual({ op: "insert", table: "keys", key: keyIdentity, row: { id: owner } });
    expect([...state.undecided.locks.values()]).not.toContain(id);
    expect([...commit(openStep(cluster, 1)).state.undecided.locks.values()]).toContain(id);
  });

  it("is remembered as the newest that was seen of each of its signers", () => {
    const last = forgedBy(cluster, 4, own, {}, { batchNo: 1_000 });
    const later = { ...certificate, receipts: receipts.with(3, last) };
    expect(commit(openStep(cluster, 2), { certificates: [later] }).state.signed.seen.get(4)?.newest?.header).toEqual(
      last.header,
    );
  });

  it("is on record as applied before a peer that is joining acknowledges it, which it does later", () => {
    const step = openStep(cluster, 2);
    step.edit("rejoining", "unproven").add(3);
    const taken = commit(step);
    expect(taken.writes).toContainEqual({
      op: "replace",
      table: "slots",
      key: slotKey(1, proposal.seq),
      row: { proposalId: id, outcome: "APPLIED", ack: undefined, writerReceipt: undefined },
    });
    expect(sent(taken)).toEqual([]);
  });

  it("is delivered again a second later, and decides its slot, whatever later one is decided", () => {
    const step = openStep(cluster, 2);
    step.draft("undecided").decidedSeq = 0;
    const { state } = commit(step);
    expect([state.undecided.outbox.get(proposal.seq)?.dueAt, state.undecided.decidedSeq]).toEqual([
      1_000,
      proposal.seq,
    ]);
    expect(state.timers.get("deliver")).toBe(1_000);
    const later = openStep(cluster, 2);
    later.draft("undecided").decidedSeq = 9;
    expect(commit(later).state.undecided.decidedSeq).toBe(9);
  });

  it.each<readonly [string, (step: WholeStep) => void]>([
    ["is sealed", (step) => void (step.draft("fitness").unsealed = false)],
    ["is being restored", (step) => void (step.draft("rejoining").recovery = freshRecovery("the test"))],
  ])("is not applied, answered or believed by a peer that %s", (_why, become) => {
    const step = openStep(cluster, 2);
    become(step);
    const taken = heard(step, 1, { _tag: "Commit", certificates: [certificate], acks: [], stableSeq: 0 });
    expect(applied(taken)).toEqual([]);
    expect(sent(taken)).toEqual([]);
  });

  it("that is not complete is not applied, and the one beside it is", () => {
    const short = { ...certificate, receipts: receipts.slice(0, 3) };
    expect(applied(commit(openStep(cluster, 2), { certificates: [short] }))).toEqual([]);
    expect(applied(commit(openStep(cluster, 2), { certificates: [short, certificate] }))).toHaveLength(1);
  });

  it("with this peer's own receipt, of which it knows nothing, puts it in quarantine, and nothing more is applied", () => {
    const other = { ...proposal, seq: proposal.seq + 1 };
    const about = { proposalId: proposalId(crypto, other), seq: other.seq };
    const all = [1, 2, 3, 4].map((peerId) => forgedBy(cluster, peerId, own, about, { batchNo: 1_000 + peerId }));
    const taken = commit(openStep(cluster, 2), { certificates: [{ proposal: other, receipts: all }, certificate] });
    expect(taken.state.fitness.quarantine).toBe("this peer signed batch 1002 and does not remember it");
    expect(applied(taken)).toEqual([]);
    expect(sent(taken)).toEqual([]);
  });

  it("with a receipt of an earlier incarnation of this peer says nothing of its disk", () => {
    const step = openStep(cluster, 2);
    step.edit("undecided", "preparations").clear();
    step.draft("signed").chain = { ...step.state.signed.chain, incarnation: 2 };
    expect(commit(step).state.fitness.quarantine).toBeUndefined();
  });
});

describe("a member that has pledged", () => {
  const REFUSER = 3;
  /** A step of the second of four, which has pledged on a refusal by the third. */
  const pledged = (): WholeStep => {
    const step = openStep(cluster, 2);
    const refusal = forgedBy(cluster, REFUSER, own, { kind: "REFUSAL" });
    step.edit("undecided", "preparations").set(id, { ...preparation, refusal, pledge: own });
    return step;
  };

  it("applies a certificate that a third member has applied", () => {
    expect(applied(commit(pledged(), { acks: [acknowledgement(4)] }))).toHaveLength(1);
    expect(applied(commit(pledged(), { acks: [acknowledgement(REFUSER), acknowledgement(1)] }))).toHaveLength(1);
  });

  it.each<readonly [string, ReadonlyArray<SignedStatement>]>([
    ["nothing", []],
    ["its own acknowledgement", [acknowledgement(2)]],
    ["the refuser's acknowledgement", [acknowledgement(REFUSER)]],
    ["a vote", [forgedBy(cluster, 4, own)]],
    ["an acknowledgement of another proposal", [acknowledgement(4, { proposalId: OTHER })]],
    ["an acknowledgement of another slot", [acknowledgement(4, { seq: proposal.seq + 1 })]],
    ["an acknowledgement of an incarnation that is not on record", [acknowledgement(4, {}, { incarnation: 2 })]],
    [
      "an acknowledgement that another member signed",
      [{ ...acknowledgement(4), signature: acknowledgement(REFUSER).signature }],
    ],
  ])("does not apply a certificate where what comes with it is %s", (_whose, acks) => {
    expect(applied(commit(pledged(), { acks }))).toEqual([]);
  });
});

describe("what members have certified, whatever this peer knows of it", () => {
  const bobs = approverIn(bobsCertificate.proposal);

  /** A step that applies a certificate that this peer has never checked. */
  const certified = (what: Proposal): StepResult => {
    const step = openStep(cluster, 2);
    return commit(step, { certificates: [preparedToo(step, what)] });
  };

  it("changes an approver from the revision that is stored, and none of another revision or that is not stored", () => {
    const change = { ...bobs, revision: 2 };
    const { writes, state } = certified(asReplacement(proposal, 1, change));
    expect(writes).toContainEqual(expect.objectContaining({ op: "replace", table: "approvers", key: bobs.ref }));
    expect(state.registry.approvers).toBe(1);
    expect(() => certified(asReplacement(proposal, 2, { ...change, revision: 3 }))).toThrow("S11");
    expect(() => certified(asReplacement(proposal, 1, { ...change, ref: approverIn(proposal).ref }))).toThrow("S11");
  });

  it("gives no key a second owner, and one that its owner brings again no second row", () => {
    expect(() => certified(altered(proposal, { keyIdentity: bobs.keyIdentity }))).toThrow("S7");
    const again = certified(altered(proposal, { id: bobs.id, keyIdentity: bobs.keyIdentity }));
    expect(applied(again)).toHaveLength(1);
    expect(again.writes.filter(({ table }) => table === "keys")).toEqual([]);
  });
});
