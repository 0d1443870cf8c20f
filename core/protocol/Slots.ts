/**
 * The writer's slots: which proposal each is bound to and its outcome, for ever,
 * and how far they go. The rows of `slots` and `strays` are written here.
 */
import type { Digest } from "../base/Digest.ts";
import type { Decision } from "./Decision.ts";
import type { Proposal } from "./Proposal.ts";
import { type SignedStatement, signerOf } from "./Statement.ts";
import { type Rows, type RowView, slotKey } from "./Tables.ts";
import { epochOf, type Membership } from "./Topology.ts";
import type { Step } from "./Step.ts";

type Slot = Pick<Proposal, "epoch" | "seq">;

/**
 * The writer's receipt for the highest slot. Only that shows how far the writer has used them, and no number alone
 * (protocol.md 3.4). It is in the row of the slot's proposal, whatever its phase.
 */
export const highProofOf = (
  view: RowView,
  membership: Membership | undefined,
  highSeq: number,
): SignedStatement | undefined => {
  const epoch = epochOf(membership, highSeq);
  const slot = epoch && view.get("slots", slotKey(epoch.topology.epoch, highSeq));
  if (slot === undefined) return undefined;
  const certified = view
    .get("certificates", slot.proposalId)
    ?.receipts.find((each) => signerOf(each) === epoch?.writer);
  return (
    certified ??
    slot.writerReceipt ??
    view.get("preparations", slot.proposalId)?.writerReceipt ??
    view.get("refusals", slot.proposalId)?.writerReceipt
  );
};

/** The receipt at hand proves that the writer has used this slot: also where so much was known, and not proven. */
export const noteSlot = (step: Step, seq: number, writerReceipt: SignedStatement): void => {
  const { highSeq, highProof } = step.state.undecided;
  if (seq < highSeq || (seq === highSeq && highProof !== undefined)) return;
  const undecided = step.draft("undecided");
  undecided.highSeq = seq;
  undecided.highProof = writerReceipt;
};

const noteDecided = (step: Step, seq: number): void => {
  if (seq > step.state.undecided.decidedSeq) step.draft("undecided").decidedSeq = seq;
};

/** Binds a free slot. */
export const bindSlot = (
  step: Step,
  { epoch, seq }: Slot,
  proposalId: Digest,
  outcome: "PREPARED" | "REFUSED",
  writerReceipt: SignedStatement,
): void => {
  noteSlot(step, seq, writerReceipt);
  step.write({
    op: "insert",
    table: "slots",
    key: slotKey(epoch, seq),
    row: { proposalId, outcome, ack: undefined, writerReceipt: undefined },
  });
};

/** The outcome of a bound slot's proposal. */
export const decideSlot = (step: Step, { epoch, seq }: Slot, row: Rows["slots"]): void => {
  noteDecided(step, seq);
  step.write({ op: "replace", table: "slots", key: slotKey(epoch, seq), row });
};

/** The outcome of an aborted proposal whose slot is bound to another one here, or to none. */
export const decideStray = (step: Step, id: Digest, ack: SignedStatement): void =>
  step.write({ op: "insert", table: "strays", key: id, row: { ack } });

/** The same outcome with an acknowledgement of this incarnation. */
export const acknowledgeAgain = (
  step: Step,
  proposalId: Digest,
  { isStray, outcome, writerReceipt, ...slot }: Decision,
  ack: SignedStatement,
): void =>
  isStray
    ? step.write({ op: "replace", table: "strays", key: proposalId, row: { ack } })
    : decideSlot(step, slot, { proposalId, outcome, ack, writerReceipt });

/** A slot as another member has it, whatever it was bound to here; the writer's receipt proves that it was used. */
export const takeSlot = (step: Step, key: string, seq: number, row: Rows["slots"], proof: SignedStatement): void => {
  passSlot(step, seq, proof);
  step.put("slots", key, row);
};

/** A slot that is the same here and at another member. */
export const passSlot = (step: Step, seq: number, proof: SignedStatement): void => {
  noteSlot(step, seq, proof);
  noteDecided(step, seq);
};

/** A slot that only this peer had, after a restore. */
export const giveUpSlot = (step: Step, key: string): void => step.write({ op: "remove", table: "slots", key });

/** After a restore: how far the slots of the registry taken over go, and how far they are bound. */
export const continueSlots = (step: Step, decidedSeq: number, highSeq: number): void => {
  const undecided = step.draft("undecided");
  undecided.decidedSeq = decidedSeq;
  undecided.highSeq = highSeq;
  undecided.highProof = highProofOf(step.context.view, step.membership, highSeq);
};
