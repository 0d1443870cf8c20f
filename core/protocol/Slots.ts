/**
 * The writer's slots: which proposal each is bound to, what became of it, for
 * ever, and how far they go. The rows of `slots` and `strays` are written here.
 */
import type { Digest } from "../base/Digest.ts";
import type { Decision } from "./Decision.ts";
import type { Proposal } from "./Proposal.ts";
import { type SignedStatement, signerOf } from "./Statement.ts";
import { type Rows, type RowView, slotKey } from "./Tables.ts";
import type { Membership } from "./Topology.ts";
import type { Turn } from "./Turn.ts";

type Slot = Pick<Proposal, "epoch" | "seq">;

/**
 * The writer's receipt for the highest slot: how far the writer has used them is shown by it and by no number alone
 * (protocol.md 3.4). It is in whatever row the slot's proposal has come to.
 */
export const highProofOf = (
  view: RowView,
  membership: Membership | undefined,
  highSeq: number,
): SignedStatement | undefined => {
  if (membership === undefined || highSeq === 0) return undefined;
  const slot = view.get("slots", slotKey(membership.topology.epoch, highSeq));
  if (slot === undefined) return undefined;
  const certified = view
    .get("certificates", slot.proposalId)
    ?.receipts.find((each) => signerOf(each) === membership.writer);
  return (
    certified ??
    slot.writerReceipt ??
    view.get("preparations", slot.proposalId)?.writerReceipt ??
    view.get("refusals", slot.proposalId)?.writerReceipt
  );
};

/** The receipt in hand proves that the writer has used this slot. */
export const noteSlot = (turn: Turn, seq: number, writerReceipt: SignedStatement): void => {
  if (seq <= turn.state.undecided.highSeq) return;
  const undecided = turn.draft("undecided");
  undecided.highSeq = seq;
  undecided.highProof = writerReceipt;
};

const noteDecided = (turn: Turn, seq: number): void => {
  if (seq > turn.state.undecided.decidedSeq) turn.draft("undecided").decidedSeq = seq;
};

/** Binds a slot that nothing is bound to. */
export const bindSlot = (
  turn: Turn,
  { epoch, seq }: Slot,
  proposalId: Digest,
  outcome: "PREPARED" | "REFUSED",
  writerReceipt: SignedStatement,
): void => {
  noteSlot(turn, seq, writerReceipt);
  turn.write({
    op: "insert",
    table: "slots",
    key: slotKey(epoch, seq),
    row: { proposalId, outcome, ack: undefined, writerReceipt: undefined },
  });
};

/** What the proposal of a bound slot has come to. */
export const decideSlot = (turn: Turn, { epoch, seq }: Slot, row: Rows["slots"]): void => {
  noteDecided(turn, seq);
  turn.write({ op: "replace", table: "slots", key: slotKey(epoch, seq), row });
};

/** What an aborted proposal has come to whose slot is bound to another one here, or to none. */
export const decideStray = (turn: Turn, id: Digest, ack: SignedStatement): void =>
  turn.write({ op: "insert", table: "strays", key: id, row: { ack } });

/** The same outcome with an acknowledgement of this incarnation. */
export const acknowledgeAgain = (
  turn: Turn,
  proposalId: Digest,
  { isStray, outcome, writerReceipt, ...slot }: Decision,
  ack: SignedStatement,
): void =>
  isStray
    ? turn.write({ op: "replace", table: "strays", key: proposalId, row: { ack } })
    : decideSlot(turn, slot, { proposalId, outcome, ack, writerReceipt });

/** A slot as another member has it, whatever it was bound to here; the writer's receipt proves that it was used. */
export const takeSlot = (turn: Turn, key: string, seq: number, row: Rows["slots"], proof: SignedStatement): void => {
  passSlot(turn, seq, proof);
  turn.put("slots", key, row);
};

/** A slot that another member has as it is here. */
export const passSlot = (turn: Turn, seq: number, proof: SignedStatement): void => {
  noteSlot(turn, seq, proof);
  noteDecided(turn, seq);
};

/** A slot that only this peer had, after a restore. */
export const giveUpSlot = (turn: Turn, key: string): void => turn.write({ op: "remove", table: "slots", key });

/** After a restore: how far the slots of the registry go that was taken over, and how far they are bound. */
export const continueSlots = (turn: Turn, decidedSeq: number, highSeq: number): void => {
  const undecided = turn.draft("undecided");
  undecided.decidedSeq = decidedSeq;
  undecided.highSeq = highSeq;
  undecided.highProof = highProofOf(turn.context.view, turn.membership, highSeq);
};
