/**
 * Collecting: receipts and abort votes from anybody about proposals that are undecided here. Any peer that holds every
 * member's receipt commits, writer or not.
 */
import type { Digest } from "../base/Digest.ts";
import type { Preparation } from "./Undecided.ts";
import { countReceipt } from "./Lifecycle.ts";
import type { Step } from "./Step.ts";
import { isAbortKind, onAbortVotes } from "./Abort.ts";
import { isReceiptFor } from "./Certificate.ts";
import { commitCompleted } from "./Delivery.ts";
import { quarantineIfForgotten } from "./Rollback.ts";
import { type SignedStatement, signerOf } from "./Statement.ts";

/** One statement of each kind by each member about each proposal: an honest peer never has more to say at once. */
const withoutRepeats = (statements: ReadonlyArray<SignedStatement>): ReadonlyArray<SignedStatement> => {
  if (statements.length < 2) return statements;
  const firsts = new Map<string, SignedStatement>();
  for (const signed of statements) {
    const { kind, proposalId } = signed.statement;
    const key = `${kind} ${signerOf(signed)} ${proposalId}`;
    if (!firsts.has(key)) firsts.set(key, signed);
  }
  return [...firsts.values()];
};

export const onVotes = (step: Step, all: ReadonlyArray<SignedStatement>): void => {
  const statements = withoutRepeats(all);
  if (quarantineIfForgotten(step, statements)) return;
  const touched: Array<Digest> = [];
  for (const signed of statements) {
    const preparation = step.state.undecided.preparations.get(signed.statement.proposalId);
    if (preparation !== undefined && takeReceipt(step, preparation, signed)) touched.push(preparation.id);
  }
  commitCompleted(step, touched);
  const abortVotes = statements.filter(isAbortKind);
  if (abortVotes.length > 0) onAbortVotes(step, abortVotes);
};

/** Whether it is a missing receipt; if so, it is recorded. */
const takeReceipt = (step: Step, preparation: Preparation, signed: SignedStatement): boolean => {
  const { id, proposal, receipts, refusal } = preparation;
  if (refusal !== undefined || receipts.has(signerOf(signed))) return false;
  if (!isReceiptFor(step.context.crypto, step.membership, id, proposal, signed)) return false;
  step.noteSeen(signed);
  countReceipt(step, preparation, signed);
  return true;
};
