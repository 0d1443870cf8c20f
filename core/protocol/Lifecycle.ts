/**
 * The lifecycle of a proposal at this peer, from the first flush to the last
 * acknowledgement. Only this file and what it is made of (Slots.ts, Rounds.ts,
 * AbortPace.ts) change undecided proposals, in memory and in rows; the decisions are made
 * elsewhere (Participant.ts, Votes.ts, Abort.ts, Delivery.ts, Recovery.ts).
 * Every change of phase is checked against the table in Phase.ts (S39).
 */
import { withEntry } from "../base/Copies.ts";
import type { Digest } from "../base/Digest.ts";
import { noteAbortOf, noteChange, noteRefusal } from "./AbortPace.ts";
import type { Certificate } from "./Certificate.ts";
import { locksOf } from "./Command.ts";
import { assertFollows, type Phase, phaseOf } from "./Phase.ts";
import type { Proposal } from "./Proposal.ts";
import { certifyRound, endRound, expireRound, opposeRound, passRound } from "./Rounds.ts";
import { bindSlot, decideSlot, decideStray } from "./Slots.ts";
import { type SignedStatement, signerOf } from "./Statement.ts";
import { numberKey } from "./Tables.ts";
import type { PeerId } from "./Topology.ts";
import type { Step } from "./Step.ts";
import {
  type Aborting,
  concluded,
  type Delivery,
  type Preparation,
  type RefusedProposal,
  type Round,
  withAcks,
  withReceipts,
} from "./Undecided.ts";

const NO_STATEMENTS: ReadonlyMap<PeerId, SignedStatement> = new Map();

const enter = (step: Step, id: Digest, seq: number, phase: Phase): void =>
  assertFollows(phaseOf({ undecided: step.state.undecided, self: step.self, id, seq }), phase, id);

// Locks: from the moment a proposal is chosen to its end here, at the writer to its end everywhere.

/** Takes a proposal's locks. */
export const hold = (step: Step, id: Digest, proposal: Proposal): void => {
  const locks = step.edit("undecided", "locks");
  for (const lock of locksOf(step.context.commands, proposal)) locks.set(lock, id);
};

const release = (step: Step, id: Digest, proposal: Proposal): void => {
  const locks = step.edit("undecided", "locks");
  for (const lock of locksOf(step.context.commands, proposal)) if (locks.get(lock) === id) locks.delete(lock);
};

// absent -> prepared -> opposed -> pledged

export interface Reservation {
  readonly id: Digest;
  readonly proposal: Proposal;
  /** Absent where this peer is the writer, whose receipt is its own. */
  readonly writerReceipt: SignedStatement | undefined;
}

/** Its slot is bound, and this peer has signed its receipt (durability points D1 and D2). */
export const recordPrepared = (
  step: Step,
  { id, proposal, writerReceipt }: Reservation,
  own: SignedStatement,
): void => {
  enter(step, id, proposal.seq, "prepared");
  const fromWriter = writerReceipt ?? own;
  step.edit("undecided", "preparations").set(id, {
    id,
    proposal,
    writerReceipt: fromWriter,
    own,
    receipts: new Map().set(signerOf(fromWriter), fromWriter).set(step.self, own),
    refusal: undefined,
    pledge: undefined,
    votes: NO_STATEMENTS,
    preparedAt: step.elapsed,
    askedAt: step.elapsed,
  });
  step.write({
    op: "insert",
    table: "preparations",
    key: id,
    row: { proposal, state: "PREPARED", own, writerReceipt: fromWriter, refusal: undefined, pledge: undefined },
  });
  bindSlot(step, proposal, id, "PREPARED", fromWriter);
};

/** Another member's receipt. */
export const countReceipt = (step: Step, preparation: Preparation, receipt: SignedStatement): void => {
  const receipts = withEntry(preparation.receipts, signerOf(receipt), receipt);
  step.edit("undecided", "preparations").set(preparation.id, withReceipts(preparation, receipts));
};

/** Another member's abort vote; the first refusal opposes a prepared proposal, and ends the collecting. */
export const countAbortVote = (step: Step, undecided: Preparation | RefusedProposal, vote: SignedStatement): void => {
  const { id } = undecided;
  const votes = withEntry(undecided.votes, signerOf(vote), vote);
  if (!("receipts" in undecided)) return void step.edit("undecided", "refused").set(id, { ...undecided, votes });
  const isFirst = undecided.refusal === undefined && vote.statement.kind === "REFUSAL";
  if (isFirst) enter(step, id, undecided.proposal.seq, "opposed");
  const refusal = isFirst ? vote : undecided.refusal;
  step.edit("undecided", "preparations").set(id, { ...undecided, refusal, votes });
  if (isFirst) opposeRound(step, id, vote);
};

/** This peer has given up its claim. */
export const recordPledged = (step: Step, preparation: Preparation, pledge: SignedStatement): void => {
  const { id, proposal, own, writerReceipt, refusal, votes } = preparation;
  enter(step, id, proposal.seq, "pledged");
  noteRefusal(step);
  step
    .edit("undecided", "preparations")
    .set(id, { ...preparation, pledge, votes: withEntry(votes, step.self, pledge) });
  step.write({
    op: "replace",
    table: "preparations",
    key: id,
    row: { proposal, state: "PLEDGED", own, writerReceipt, refusal, pledge },
  });
};

// absent -> refused

export interface Refusing {
  readonly id: Digest;
  readonly proposal: Proposal;
  readonly writerReceipt: SignedStatement;
  /** The code of the check that failed. */
  readonly code: string;
  readonly bindsSlot: boolean;
}

/** This peer has refused it; that binds the slot if it is free. */
export const recordRefused = (
  step: Step,
  { id, proposal, writerReceipt, bindsSlot }: Refusing,
  refusal: SignedStatement,
): void => {
  const { epoch, seq } = proposal;
  enter(step, id, seq, "refused");
  noteRefusal(step);
  step.edit("undecided", "refused").set(id, {
    id,
    proposal: { epoch, seq },
    bindsSlot,
    writerReceipt,
    votes: new Map([[step.self, refusal]]),
    preparedAt: step.elapsed,
    askedAt: step.elapsed,
  });
  step.write({ op: "insert", table: "refusals", key: id, row: { proposal, writerReceipt, refusal } });
  if (bindsSlot) bindSlot(step, proposal, id, "REFUSED", writerReceipt);
};

const takeRefusalAway = (step: Step, id: Digest): void => {
  step.edit("undecided", "refused").delete(id);
  step.write({ op: "remove", table: "refusals", key: id });
};

// prepared, opposed, pledged -> applied -> acknowledged -> confirmed -> absent

/** Its certificate is complete, and its effects are in this transaction; next delivery at `dueAt`. */
export const recordApplied = (step: Step, id: Digest, certificate: Certificate, dueAt: number): void => {
  const { proposal } = certificate;
  const { epoch, seq } = proposal;
  enter(step, id, seq, "applied");
  noteChange(step, proposal);
  step.edit("undecided", "preparations").delete(id);
  step.write({ op: "insert", table: "certificates", key: id, row: certificate });
  step.write({ op: "insert", table: "outbox", key: numberKey(seq), row: { proposalId: id, epoch, seq } });
  step.write({ op: "remove", table: "preparations", key: id });
  decideSlot(step, proposal, { proposalId: id, outcome: "APPLIED", ack: undefined, writerReceipt: undefined });
  step.edit("undecided", "outbox").set(seq, { id, seq, proposal, acks: NO_STATEMENTS, dueAt, isPrunable: false });
  certifyRound(step, id, certificate);
  // The writer keeps its locks until all have applied: its next proposal never meets a stale one.
  if (!step.isWriter) release(step, id, proposal);
};

/** This peer has acknowledged it. */
export const recordAcknowledged = (step: Step, { id, seq, proposal }: Delivery, ack: SignedStatement): void => {
  enter(step, id, seq, "acknowledged");
  decideSlot(step, proposal, { proposalId: id, outcome: "APPLIED", ack, writerReceipt: undefined });
  countCommitAck(step, seq, ack);
};

/** A member's acknowledgement that it has applied the proposal in this slot. */
export const countCommitAck = (step: Step, seq: number, ack: SignedStatement): void => {
  const delivery = step.state.undecided.outbox.get(seq);
  if (delivery !== undefined)
    step.edit("undecided", "outbox").set(seq, withAcks(delivery, withEntry(delivery.acks, signerOf(ack), ack)));
};

/** All members are known to have acknowledged it. */
export const recordConfirmed = (step: Step, seq: number): void => {
  const delivery = step.state.undecided.outbox.get(seq);
  if (delivery === undefined || delivery.isPrunable) return;
  enter(step, delivery.id, seq, "confirmed");
  step.edit("undecided", "outbox").set(seq, concluded(delivery));
  step.draft("undecided").prunable += 1;
};

/** At the writer, with the last acknowledgement: its locks go, and its callers can be told. */
export const closeConfirmed = (step: Step, { id, proposal }: Delivery): Round | undefined => {
  release(step, id, proposal);
  return endRound(step, id);
};

/** Removes the outbox rows that are no longer needed; they go with any transaction that happens anyway. */
export const prune = (step: Step): void => {
  if (step.state.undecided.prunable === 0) return;
  const outbox = step.edit("undecided", "outbox");
  for (const { seq, isPrunable } of outbox.values()) {
    if (!isPrunable) continue;
    outbox.delete(seq);
    step.write({ op: "remove", table: "outbox", key: numberKey(seq) });
  }
  step.draft("undecided").prunable = 0;
};

/** Deliveries that were sent again, and when they are due next. */
export const deliveredAgain = (step: Step, deliveries: ReadonlyArray<Delivery>, dueAt: number): void => {
  const outbox = step.edit("undecided", "outbox");
  for (const each of deliveries) outbox.set(each.seq, { ...each, dueAt });
};

// pledged, refused -> aborting -> absent

/**
 * Every member's abort vote is here, and this peer acknowledges the abort. The outcome is kept for ever, so that a
 * member that asks later gets these very bytes.
 *
 * @returns at the writer, the round whose callers can be told
 */
export const recordAborted = (
  step: Step,
  undecided: Preparation | RefusedProposal,
  ack: SignedStatement,
): Round | undefined => {
  const { id, writerReceipt } = undecided;
  const row = { proposalId: id, outcome: "ABORTED" as const, ack, writerReceipt };
  if (!("receipts" in undecided)) {
    enter(step, id, undecided.proposal.seq, "absent");
    takeRefusalAway(step, id);
    if (undecided.bindsSlot) decideSlot(step, undecided.proposal, row);
    else decideStray(step, id, ack);
    return undefined;
  }
  const { proposal } = undecided;
  enter(step, id, proposal.seq, step.isWriter ? "aborting" : "absent");
  step.edit("undecided", "preparations").delete(id);
  step.write({ op: "remove", table: "preparations", key: id });
  decideSlot(step, proposal, row);
  if (step.isWriter) return beginAborting(step, undecided, ack);
  release(step, id, proposal);
  return undefined;
};

const beginAborting = (step: Step, preparation: Preparation, ack: SignedStatement): Round | undefined => {
  const { id, proposal, writerReceipt } = preparation;
  noteAbortOf(step, proposal);
  const votes = [...preparation.votes.values()];
  const acks = votes
    .filter(({ statement }) => statement.kind === "ABORT_ACK")
    .map((each) => [signerOf(each), each] as const);
  step.edit("undecided", "aborting").set(id, {
    id,
    proposal,
    writerReceipt,
    votes,
    acks: new Map([...acks, [step.self, ack]]),
    preparedAt: step.elapsed,
    askedAt: step.elapsed,
  });
  step.write({ op: "insert", table: "aborts", key: id, row: { proposal, writerReceipt, votes } });
  concludeAborting(step, id);
  return endRound(step, id);
};

/** Another member has aborted it too. */
export const countAbortAck = (step: Step, aborting: Aborting, ack: SignedStatement): void => {
  step
    .edit("undecided", "aborting")
    .set(aborting.id, { ...aborting, acks: withEntry(aborting.acks, signerOf(ack), ack) });
  concludeAborting(step, aborting.id);
};

/** The writer drops its own locks last, when every member has let go of the proposal. */
const concludeAborting = (step: Step, id: Digest): void => {
  const aborting = step.state.undecided.aborting.get(id);
  if (aborting === undefined || aborting.acks.size < step.membership.peerIds.length) return;
  enter(step, id, aborting.proposal.seq, "absent");
  step.edit("undecided", "aborting").delete(id);
  step.write({ op: "remove", table: "aborts", key: id });
  release(step, id, aborting.proposal);
};

// Changes that leave the phase as it is, and the one that ends all of them.

/** The others are asked about it now. Locks and capacity are kept however much time passes. */
export const recordAsked = (step: Step, id: Digest): void => {
  const askedAt = step.elapsed;
  const { refused, aborting, preparations } = step.state.undecided;
  const [refusal, abort, preparation] = [refused.get(id), aborting.get(id), preparations.get(id)];
  if (refusal !== undefined) step.edit("undecided", "refused").set(id, { ...refusal, askedAt });
  if (abort !== undefined) step.edit("undecided", "aborting").set(id, { ...abort, askedAt });
  if (preparation === undefined) return;
  step.edit("undecided", "preparations").set(id, { ...preparation, askedAt });
  passRound(step, id);
  if (step.now > preparation.proposal.expiresAt) expireRound(step, id);
};

const without = <V>(byMember: ReadonlyMap<PeerId, V>, peerId: PeerId): ReadonlyMap<PeerId, V> => {
  const left = new Map(byMember);
  left.delete(peerId);
  return left;
};

/** Statements of a superseded incarnation no longer count; a pledge stays, whatever refusal it was made on. */
export const forgetVotesOf = (step: Step, peerId: PeerId): void => {
  const { preparations, refused, aborting, outbox } = step.state.undecided;
  for (const each of preparations.values())
    step.edit("undecided", "preparations").set(each.id, { ...each, votes: without(each.votes, peerId) });
  for (const each of refused.values())
    step.edit("undecided", "refused").set(each.id, { ...each, votes: without(each.votes, peerId) });
  for (const each of aborting.values())
    step.edit("undecided", "aborting").set(each.id, { ...each, acks: without(each.acks, peerId) });
  for (const each of outbox.values())
    if (!each.isPrunable) step.edit("undecided", "outbox").set(each.seq, { ...each, acks: without(each.acks, peerId) });
};

/** Before a declared restore: the others will say how anything ended that is not final here. */
export const dropUndecided = (step: Step): void => {
  const { preparations, refused, aborting, outbox } = step.state.undecided;
  for (const key of preparations.keys()) step.write({ op: "remove", table: "preparations", key });
  for (const key of refused.keys()) step.write({ op: "remove", table: "refusals", key });
  for (const key of aborting.keys()) step.write({ op: "remove", table: "aborts", key });
  for (const seq of outbox.keys()) step.write({ op: "remove", table: "outbox", key: numberKey(seq) });
  step.edit("undecided", "preparations").clear();
  step.edit("undecided", "refused").clear();
  step.edit("undecided", "aborting").clear();
  step.edit("undecided", "outbox").clear();
  step.edit("undecided", "locks").clear();
  step.draft("undecided").prunable = 0;
};

/** After it: a refusal of a proposal that ended elsewhere is void, and the others no longer bind a slot. */
export const settleRefusals = (step: Step, isDecided: (refused: RefusedProposal) => boolean): void => {
  for (const each of step.state.undecided.refused.values())
    if (isDecided(each)) takeRefusalAway(step, each.id);
    // The slots that its old disk had bound were taken away with everything that is not final.
    else step.edit("undecided", "refused").set(each.id, { ...each, bindsSlot: false });
};
