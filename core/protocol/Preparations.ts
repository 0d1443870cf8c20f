/**
 * Reserving: a proposal's locks, its row, its slot and this peer's receipt, all
 * flushed before the receipt leaves (durability points D1 and D2).
 */
import { recordPrepared, type Reservation } from "./Lifecycle.ts";
import { signEach } from "./SignEach.ts";
import type { SignedStatement } from "./Statement.ts";
import type { Step } from "./Step.ts";

/**
 * How long after its receipt a member asks the others what became of a proposal:
 * longer than a full round takes on a busy cluster with a slow disk, or every
 * round there would be settled and delivered twice.
 */
const RESOLVE_MILLIS = 1_000;
/** The writer asks first, then the members by rank, so that usually one of them settles for all. */
const RANK_MILLIS = 200;
const RANKS = 10;

/** When this peer first asks about a prepared or refused proposal, in milliseconds from then. */
export const resolveDelay = (step: Step): number =>
  RESOLVE_MILLIS + RANK_MILLIS * Math.min(RANKS, step.membership.peerIds.indexOf(step.self));

/** Signs one receipt for each proposal, records the preparations, and hands the receipts on in order. */
export const reserve = (
  step: Step,
  reservations: ReadonlyArray<Reservation>,
  run: (receipts: ReadonlyArray<SignedStatement>) => void,
): void =>
  signEach(
    step,
    reservations,
    ({ id, proposal }) => ({ kind: "RECEIPT", proposalId: id, seq: proposal.seq, detail: "" }),
    (reservation, own) => recordPrepared(step, reservation, own),
    (receipts) => {
      step.arm("resolve", resolveDelay(step));
      run(receipts);
    },
  );
