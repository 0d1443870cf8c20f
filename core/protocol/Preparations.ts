/**
 * Reserving: a proposal's locks, its row, its slot and this peer's receipt, all
 * flushed before the receipt leaves (durability points D1 and D2).
 */
import type { Digest } from "../base/Digest.ts";
import { slotKey } from "./Tables.ts";
import type { Turn } from "./Turn.ts";
import { locksOf } from "./Command.ts";
import type { Proposal } from "./Proposal.ts";
import { signEach } from "./SignEach.ts";
import { type SignedStatement, signerOf } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";

/**
 * How long after its receipt a member asks the others what became of a proposal:
 * longer than a full round takes on a busy cluster with a slow disk, or every
 * round there would be settled and delivered twice.
 */
const RESOLVE_MILLIS = 1_000;
/** The writer asks first, then the members by rank, so that mostly one of them settles for all. */
const RANK_MILLIS = 200;
const RANKS = 10;

/** When this peer first asks about what it has prepared or refused, in milliseconds from then. */
export const resolveDelay = (turn: Turn): number =>
  RESOLVE_MILLIS + RANK_MILLIS * Math.min(RANKS, turn.membership.peerIds.indexOf(turn.self));

/** Takes a proposal's locks. */
export const hold = (turn: Turn, id: Digest, proposal: Proposal): void => {
  const locks = turn.edit("locks");
  for (const lock of locksOf(turn.context.commands, proposal)) locks.set(lock, id);
};

/** Drops the locks that a proposal still holds. */
export const release = (turn: Turn, id: Digest, proposal: Proposal): void => {
  const locks = turn.edit("locks");
  for (const lock of locksOf(turn.context.commands, proposal)) if (locks.get(lock) === id) locks.delete(lock);
};

const NO_VOTES: ReadonlyMap<PeerId, SignedStatement> = new Map();

export interface Reservation {
  readonly id: Digest;
  readonly proposal: Proposal;
  /** Absent where this peer is the writer: its own receipt is the one. */
  readonly writerReceipt: SignedStatement | undefined;
}

/** Signs one receipt for each proposal, records the preparations, and hands the receipts on in order. */
export const reserve = (
  turn: Turn,
  reservations: ReadonlyArray<Reservation>,
  run: (receipts: ReadonlyArray<SignedStatement>) => void,
): void =>
  signEach(
    turn,
    reservations,
    ({ id, proposal }) => ({ kind: "RECEIPT", proposalId: id, seq: proposal.seq, detail: "" }),
    (reservation, own) => record(turn, reservation, own),
    (receipts) => {
      turn.arm("resolve", resolveDelay(turn));
      run(receipts);
    },
  );

const record = (turn: Turn, { id, proposal, writerReceipt }: Reservation, own: SignedStatement): void => {
  const fromWriter = writerReceipt ?? own;
  turn.edit("preparations").set(id, {
    id,
    proposal,
    writerReceipt: fromWriter,
    own,
    receipts: new Map().set(signerOf(fromWriter), fromWriter).set(turn.self, own),
    refusal: undefined,
    pledge: undefined,
    votes: NO_VOTES,
    preparedAt: turn.elapsed,
    askedAt: turn.elapsed,
  });
  turn.noteSlot(proposal.seq, fromWriter);
  turn.write({
    op: "insert",
    table: "preparations",
    key: id,
    row: { proposal, state: "PREPARED", own, writerReceipt: fromWriter, refusal: undefined, pledge: undefined },
  });
  turn.write({
    op: "insert",
    table: "slots",
    key: slotKey(proposal.epoch, proposal.seq),
    row: { proposalId: id, outcome: "PREPARED", ack: undefined, writerReceipt: undefined },
  });
};
