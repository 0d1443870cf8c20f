/**
 * The life of a proposal at this peer, from the first flush to the last
 * acknowledgement. Only this file and what it is made of (Slots.ts, Rounds.ts)
 * change what is undecided, in memory and in rows; who decides is elsewhere
 * (Participant.ts, Votes.ts, Abort.ts, Delivery.ts, Recovery.ts). Every change of
 * phase is held against the table in Phase.ts (S39).
 */
import { withEntry } from "../base/Copies.ts";
import type { Digest } from "../base/Digest.ts";
import type { Certificate } from "./Certificate.ts";
import { locksOf } from "./Command.ts";
import { assertFollows, type Phase, phaseOf } from "./Phase.ts";
import type { Proposal } from "./Proposal.ts";
import { certifyRound, endRound, expireRound, opposeRound, passRound } from "./Rounds.ts";
import { bindSlot, decideSlot, decideStray } from "./Slots.ts";
import { type SignedStatement, signerOf } from "./Statement.ts";
import { numberKey } from "./Tables.ts";
import type { PeerId } from "./Topology.ts";
import type { Turn } from "./Turn.ts";
import {
  type Aborting,
  concluded,
  type Delivery,
  type Preparation,
  type Refused,
  type Round,
  withAcks,
  withReceipts,
} from "./Undecided.ts";

const NO_STATEMENTS: ReadonlyMap<PeerId, SignedStatement> = new Map();

const enter = (turn: Turn, id: Digest, seq: number, phase: Phase): void =>
  assertFollows(phaseOf({ undecided: turn.state.undecided, self: turn.self, id, seq }), phase, id);

// Locks: from the moment a proposal is chosen to its end here, at the writer to its end everywhere.

/** Takes a proposal's locks. */
export const hold = (turn: Turn, id: Digest, proposal: Proposal): void => {
  const locks = turn.edit("undecided", "locks");
  for (const lock of locksOf(turn.context.commands, proposal)) locks.set(lock, id);
};

const release = (turn: Turn, id: Digest, proposal: Proposal): void => {
  const locks = turn.edit("undecided", "locks");
  for (const lock of locksOf(turn.context.commands, proposal)) if (locks.get(lock) === id) locks.delete(lock);
};

// absent -> prepared -> opposed -> pledged

export interface Reservation {
  readonly id: Digest;
  readonly proposal: Proposal;
  /** Absent where this peer is the writer: its own receipt is the one. */
  readonly writerReceipt: SignedStatement | undefined;
}

/** Its slot is bound, and this peer has signed its receipt (durability points D1 and D2). */
export const recordPrepared = (
  turn: Turn,
  { id, proposal, writerReceipt }: Reservation,
  own: SignedStatement,
): void => {
  enter(turn, id, proposal.seq, "prepared");
  const fromWriter = writerReceipt ?? own;
  turn.edit("undecided", "preparations").set(id, {
    id,
    proposal,
    writerReceipt: fromWriter,
    own,
    receipts: new Map().set(signerOf(fromWriter), fromWriter).set(turn.self, own),
    refusal: undefined,
    pledge: undefined,
    votes: NO_STATEMENTS,
    preparedAt: turn.elapsed,
    askedAt: turn.elapsed,
  });
  turn.write({
    op: "insert",
    table: "preparations",
    key: id,
    row: { proposal, state: "PREPARED", own, writerReceipt: fromWriter, refusal: undefined, pledge: undefined },
  });
  bindSlot(turn, proposal, id, "PREPARED", fromWriter);
};

/** Another member's receipt. */
export const countReceipt = (turn: Turn, preparation: Preparation, receipt: SignedStatement): void => {
  const receipts = withEntry(preparation.receipts, signerOf(receipt), receipt);
  turn.edit("undecided", "preparations").set(preparation.id, withReceipts(preparation, receipts));
};

/** Another member's vote for the end; the first refusal opposes what is prepared, and ends the collecting. */
export const countAbortVote = (turn: Turn, undecided: Preparation | Refused, vote: SignedStatement): void => {
  const { id } = undecided;
  const votes = withEntry(undecided.votes, signerOf(vote), vote);
  if (!("receipts" in undecided)) return void turn.edit("undecided", "refused").set(id, { ...undecided, votes });
  const isFirst = undecided.refusal === undefined && vote.statement.kind === "REFUSAL";
  if (isFirst) enter(turn, id, undecided.proposal.seq, "opposed");
  const refusal = isFirst ? vote : undecided.refusal;
  turn.edit("undecided", "preparations").set(id, { ...undecided, refusal, votes });
  if (isFirst) opposeRound(turn, id, vote);
};

/** This peer has given its claim up. */
export const recordPledged = (turn: Turn, preparation: Preparation, pledge: SignedStatement): void => {
  const { id, proposal, own, writerReceipt, refusal, votes } = preparation;
  enter(turn, id, proposal.seq, "pledged");
  turn
    .edit("undecided", "preparations")
    .set(id, { ...preparation, pledge, votes: withEntry(votes, turn.self, pledge) });
  turn.write({
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

/** This peer has refused it; that binds the slot if nothing else does. */
export const recordRefused = (
  turn: Turn,
  { id, proposal, writerReceipt, bindsSlot }: Refusing,
  refusal: SignedStatement,
): void => {
  const { epoch, seq } = proposal;
  enter(turn, id, seq, "refused");
  turn.edit("undecided", "refused").set(id, {
    id,
    proposal: { epoch, seq },
    bindsSlot,
    writerReceipt,
    votes: new Map([[turn.self, refusal]]),
    preparedAt: turn.elapsed,
    askedAt: turn.elapsed,
  });
  turn.write({ op: "insert", table: "refusals", key: id, row: { proposal, writerReceipt, refusal } });
  if (bindsSlot) bindSlot(turn, proposal, id, "REFUSED", writerReceipt);
};

const takeRefusalAway = (turn: Turn, id: Digest): void => {
  turn.edit("undecided", "refused").delete(id);
  turn.write({ op: "remove", table: "refusals", key: id });
};

// prepared, opposed, pledged -> applied -> acknowledged -> confirmed -> absent

/** Its certificate is complete, and its effects are in this transaction; due again for delivery at `dueAt`. */
export const recordApplied = (turn: Turn, id: Digest, certificate: Certificate, dueAt: number): void => {
  const { proposal } = certificate;
  const { epoch, seq } = proposal;
  enter(turn, id, seq, "applied");
  turn.edit("undecided", "preparations").delete(id);
  turn.write({ op: "insert", table: "certificates", key: id, row: certificate });
  turn.write({ op: "insert", table: "outbox", key: numberKey(seq), row: { proposalId: id, epoch, seq } });
  turn.write({ op: "remove", table: "preparations", key: id });
  decideSlot(turn, proposal, { proposalId: id, outcome: "APPLIED", ack: undefined, writerReceipt: undefined });
  turn.edit("undecided", "outbox").set(seq, { id, seq, proposal, acks: NO_STATEMENTS, dueAt, isPrunable: false });
  certifyRound(turn, id, certificate);
  // The writer keeps its locks until all have applied: its next proposal never meets a stale one.
  if (!turn.isWriter) release(turn, id, proposal);
};

/** This peer has said so. */
export const recordAcknowledged = (turn: Turn, { id, seq, proposal }: Delivery, ack: SignedStatement): void => {
  enter(turn, id, seq, "acknowledged");
  decideSlot(turn, proposal, { proposalId: id, outcome: "APPLIED", ack, writerReceipt: undefined });
  countCommitAck(turn, seq, ack);
};

/** A member's acknowledgement that it has applied what is in this slot. */
export const countCommitAck = (turn: Turn, seq: number, ack: SignedStatement): void => {
  const delivery = turn.state.undecided.outbox.get(seq);
  if (delivery !== undefined)
    turn.edit("undecided", "outbox").set(seq, withAcks(delivery, withEntry(delivery.acks, signerOf(ack), ack)));
};

/** All members are known to have acknowledged it. */
export const recordConfirmed = (turn: Turn, seq: number): void => {
  const delivery = turn.state.undecided.outbox.get(seq);
  if (delivery === undefined || delivery.isPrunable) return;
  enter(turn, delivery.id, seq, "confirmed");
  turn.edit("undecided", "outbox").set(seq, concluded(delivery));
  turn.draft("undecided").prunable += 1;
};

/** At the writer, whose own acknowledgement was the last to come: its locks go, and its callers can be told. */
export const closeConfirmed = (turn: Turn, { id, proposal }: Delivery): Round | undefined => {
  release(turn, id, proposal);
  return endRound(turn, id);
};

/** Removes the outbox rows that nobody needs any more; they go with any transaction that happens anyway. */
export const prune = (turn: Turn): void => {
  if (turn.state.undecided.prunable === 0) return;
  const outbox = turn.edit("undecided", "outbox");
  for (const { seq, isPrunable } of outbox.values()) {
    if (!isPrunable) continue;
    outbox.delete(seq);
    turn.write({ op: "remove", table: "outbox", key: numberKey(seq) });
  }
  turn.draft("undecided").prunable = 0;
};

/** What was delivered again, and when it is due next. */
export const deliveredAgain = (turn: Turn, deliveries: ReadonlyArray<Delivery>, dueAt: number): void => {
  const outbox = turn.edit("undecided", "outbox");
  for (const each of deliveries) outbox.set(each.seq, { ...each, dueAt });
};

// pledged, refused -> aborting -> absent

/**
 * Every member has voted for its end, and this peer acknowledges that. The outcome is kept for ever, so that whoever
 * asks later gets these very bytes.
 *
 * @returns at the writer, the round whose callers can be told
 */
export const recordAborted = (
  turn: Turn,
  undecided: Preparation | Refused,
  ack: SignedStatement,
): Round | undefined => {
  const { id, writerReceipt } = undecided;
  const row = { proposalId: id, outcome: "ABORTED" as const, ack, writerReceipt };
  if (!("receipts" in undecided)) {
    enter(turn, id, undecided.proposal.seq, "absent");
    takeRefusalAway(turn, id);
    if (undecided.bindsSlot) decideSlot(turn, undecided.proposal, row);
    else decideStray(turn, id, ack);
    return undefined;
  }
  const { proposal } = undecided;
  enter(turn, id, proposal.seq, turn.isWriter ? "aborting" : "absent");
  turn.edit("undecided", "preparations").delete(id);
  turn.write({ op: "remove", table: "preparations", key: id });
  decideSlot(turn, proposal, row);
  if (turn.isWriter) return beginAborting(turn, undecided, ack);
  release(turn, id, proposal);
  return undefined;
};

const beginAborting = (turn: Turn, preparation: Preparation, ack: SignedStatement): Round | undefined => {
  const { id, proposal, writerReceipt } = preparation;
  const votes = [...preparation.votes.values()];
  const acks = votes
    .filter(({ statement }) => statement.kind === "ABORT_ACK")
    .map((each) => [signerOf(each), each] as const);
  turn.edit("undecided", "aborting").set(id, {
    id,
    proposal,
    writerReceipt,
    votes,
    acks: new Map([...acks, [turn.self, ack]]),
    preparedAt: turn.elapsed,
    askedAt: turn.elapsed,
  });
  turn.write({ op: "insert", table: "aborts", key: id, row: { proposal, writerReceipt, votes } });
  concludeAborting(turn, id);
  return endRound(turn, id);
};

/** Another member has aborted it too. */
export const countAbortAck = (turn: Turn, aborting: Aborting, ack: SignedStatement): void => {
  turn
    .edit("undecided", "aborting")
    .set(aborting.id, { ...aborting, acks: withEntry(aborting.acks, signerOf(ack), ack) });
  concludeAborting(turn, aborting.id);
};

/** The writer drops its own locks last, when every member has let go of the proposal. */
const concludeAborting = (turn: Turn, id: Digest): void => {
  const aborting = turn.state.undecided.aborting.get(id);
  if (aborting === undefined || aborting.acks.size < turn.membership.peerIds.length) return;
  enter(turn, id, aborting.proposal.seq, "absent");
  turn.edit("undecided", "aborting").delete(id);
  turn.write({ op: "remove", table: "aborts", key: id });
  release(turn, id, aborting.proposal);
};

// What changes no phase, and what ends all of them.

/** The others are asked about it now. Time changes nothing about its locks and its capacity. */
export const recordAsked = (turn: Turn, id: Digest): void => {
  const askedAt = turn.elapsed;
  const { refused, aborting, preparations } = turn.state.undecided;
  const [refusal, abort, preparation] = [refused.get(id), aborting.get(id), preparations.get(id)];
  if (refusal !== undefined) turn.edit("undecided", "refused").set(id, { ...refusal, askedAt });
  if (abort !== undefined) turn.edit("undecided", "aborting").set(id, { ...abort, askedAt });
  if (preparation === undefined) return;
  turn.edit("undecided", "preparations").set(id, { ...preparation, askedAt });
  passRound(turn, id);
  if (turn.now > preparation.proposal.expiresAt) expireRound(turn, id);
};

const without = <V>(byMember: ReadonlyMap<PeerId, V>, peerId: PeerId): ReadonlyMap<PeerId, V> => {
  const left = new Map(byMember);
  left.delete(peerId);
  return left;
};

/** What a member said in an incarnation that is over counts no more; a pledge stays, whatever refusal it was made on. */
export const forgetVotesOf = (turn: Turn, peerId: PeerId): void => {
  const { preparations, refused, aborting, outbox } = turn.state.undecided;
  for (const each of preparations.values())
    turn.edit("undecided", "preparations").set(each.id, { ...each, votes: without(each.votes, peerId) });
  for (const each of refused.values())
    turn.edit("undecided", "refused").set(each.id, { ...each, votes: without(each.votes, peerId) });
  for (const each of aborting.values())
    turn.edit("undecided", "aborting").set(each.id, { ...each, acks: without(each.acks, peerId) });
  for (const each of outbox.values())
    if (!each.isPrunable) turn.edit("undecided", "outbox").set(each.seq, { ...each, acks: without(each.acks, peerId) });
};

/** Before a declared restore: what becomes of anything that is not final is for the others to say. */
export const dropUndecided = (turn: Turn): void => {
  const { preparations, refused, aborting, outbox } = turn.state.undecided;
  for (const key of preparations.keys()) turn.write({ op: "remove", table: "preparations", key });
  for (const key of refused.keys()) turn.write({ op: "remove", table: "refusals", key });
  for (const key of aborting.keys()) turn.write({ op: "remove", table: "aborts", key });
  for (const seq of outbox.keys()) turn.write({ op: "remove", table: "outbox", key: numberKey(seq) });
  turn.edit("undecided", "preparations").clear();
  turn.edit("undecided", "refused").clear();
  turn.edit("undecided", "aborting").clear();
  turn.edit("undecided", "outbox").clear();
  turn.edit("undecided", "locks").clear();
  turn.draft("undecided").prunable = 0;
};

/** After it: a refusal of what has come to its end elsewhere is void, and the others bind no slot any more. */
export const settleRefusals = (turn: Turn, isDecided: (refused: Refused) => boolean): void => {
  for (const each of turn.state.undecided.refused.values())
    if (isDecided(each)) takeRefusalAway(turn, each.id);
    // What its old disk had bound was taken away with everything that is not final.
    else if (each.bindsSlot) turn.edit("undecided", "refused").set(each.id, { ...each, bindsSlot: false });
};
