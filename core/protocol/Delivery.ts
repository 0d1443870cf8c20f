/**
 * After the certificate: every member applies it in one flushed transaction with
 * its audit row and its outbox row, and acknowledges. The outbox row stays until
 * all have acknowledged, so one delivery before a crash is enough (protocol.md 4b).
 */
import type { Digest } from "../base/Digest.ts";
import type { Delivery, Preparation } from "./Undecided.ts";
import type { Step } from "./Step.ts";
import { answerConfirmed } from "./Answers.ts";
import { writeAudit } from "./Audit.ts";
import { assemble, type Certificate, isComplete, statementsInOrder } from "./Certificate.ts";
import { type Decision, decisionOf } from "./Decision.ts";
import type { MessageOf } from "./Message.ts";
import {
  closeConfirmed,
  countCommitAck,
  deliveredAgain,
  prune,
  recordAcknowledged,
  recordApplied,
  recordConfirmed,
} from "./Lifecycle.ts";
import { noteApplied } from "./OwnRequest.ts";
import { proposalId } from "./Proposal.ts";
import { reacknowledge } from "./Reacknowledge.ts";
import { isOfEarlierIncarnation, remind } from "./Reminders.ts";
import { signEach } from "./SignEach.ts";
import { isAuthentic, type SignedStatement, signerOf } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";

const DELIVER_MILLIS = 1_000;
/** What is due so soon goes with what is due now: a member that does not answer is not sent a message for each. */
const TOGETHER_MILLIS = 500;
const PRUNE_MILLIS = 50;

interface Committed {
  readonly id: Digest;
  readonly certificate: Certificate;
}

/** Up to this slot the writer knows everything acknowledged by all; it tells members what they need not keep. */
export const stableSeq = ({ state }: Step): number => {
  let stable = state.undecided.highSeq;
  for (const { seq, isPrunable } of state.undecided.outbox.values())
    if (!isPrunable) stable = Math.min(stable, seq - 1);
  for (const { proposal } of state.undecided.preparations.values()) stable = Math.min(stable, proposal.seq - 1);
  for (const { proposal } of state.undecided.aborting.values()) stable = Math.min(stable, proposal.seq - 1);
  return stable;
};

/**
 * Whether the limit of applied and unacknowledged changes is reached: a member that withholds its acknowledgements must
 * not fill the memory of all others. Honest members stay far below, because nothing begins while one of them is away.
 */
export const isOverdue = ({ state, capacities }: Step): boolean =>
  state.undecided.outbox.size - state.undecided.prunable >= capacities.unacknowledged;

/** Commits those of the proposals whose receipts are complete, and delivers them to every other member. */
export const commitCompleted = (step: Step, ids: Iterable<Digest>): void => {
  const completed: Array<Committed> = [];
  for (const id of ids) {
    if (completed.some((each) => each.id === id)) continue;
    const preparation = step.state.undecided.preparations.get(id);
    // Once opposed, a peer neither assembles a certificate nor applies one (protocol.md 4a).
    if (preparation?.refusal !== undefined) continue;
    const certificate = preparation && assemble(step.membership, preparation.proposal, preparation.receipts);
    if (certificate !== undefined) completed.push({ id, certificate });
  }
  if (completed.length === 0) return;
  const stable = stableSeq(step);
  apply(step, completed, (statements) => {
    // No certificate of another asks for this one, and the writer waits for it.
    if (!step.isWriter && statements.length > 0) step.send(step.membership.writer, { _tag: "CommitAcks", statements });
  });
  // Members flushed their receipts, this peer its own in the step that signed it: nothing here waits.
  const certificates = completed.map((each) => each.certificate);
  const { proposalsPerMessage } = step.capacities;
  for (let from = 0; from < certificates.length; from += proposalsPerMessage) {
    const chunk = certificates.slice(from, from + proposalsPerMessage);
    step.sendFlushed({ _tag: "Commit", certificates: chunk, acks: [], stableSeq: stable }, step.others);
  }
};

/** Applies certificates, signs one acknowledgement each, and hands these on. */
const apply = (
  step: Step,
  committed: ReadonlyArray<Committed>,
  run: (acks: ReadonlyArray<SignedStatement>) => void,
): void => {
  for (const each of committed) applyOne(step, each);
  step.arm("deliver", DELIVER_MILLIS);
  // Applying binds nobody; an acknowledgement does, and waits until this peer has joined.
  if (step.mode === "joining") return run([]);
  acknowledge(
    step,
    committed.map(({ certificate }) => certificate.proposal.seq),
    run,
  );
};

/** Signs and records an acknowledgement for the applied proposal of each slot. */
const acknowledge = (
  step: Step,
  seqs: ReadonlyArray<number>,
  run: (acks: ReadonlyArray<SignedStatement>) => void,
): void =>
  signEach(
    step,
    seqs.flatMap((seq) => step.state.undecided.outbox.get(seq) ?? []),
    ({ id, seq }) => ({ kind: "COMMIT_ACK", proposalId: id, seq, detail: "" }),
    (delivery, ack) => {
      recordAcknowledged(step, delivery, ack);
      concludeDelivery(step, delivery.seq);
    },
    run,
  );

/** Changes applied while this peer was joining are acknowledged when it has joined. */
export const acknowledgeLate = (step: Step): void => {
  const late = [...step.state.undecided.outbox.values()].filter((each) => !each.acks.has(step.self));
  acknowledge(
    step,
    late.map((each) => each.seq),
    (acks) => {
      const { preparations: most } = step.capacities;
      for (let from = 0; from < acks.length; from += most) {
        const statements = acks.slice(from, from + most);
        step.sendAll({ _tag: "CommitAcks", statements });
      }
    },
  );
};

const applyOne = (step: Step, { id, certificate }: Committed): void => {
  const { proposal } = certificate;
  step.command(proposal).apply(step, id, proposal.effects);
  noteApplied(step, proposal);
  recordApplied(step, id, certificate, step.elapsed + DELIVER_MILLIS);
  writeAudit(step, id, proposal);
};

/** A certificate from another member: verified and applied in one go, or acknowledged again from the stored row. */
export const onCommit = (step: Step, from: PeerId, message: MessageOf<"Commit">): void => {
  const { crypto, view } = step.context;
  let again: Map<Digest, Decision> | undefined;
  const fresh: Array<Committed> = [];
  for (const certificate of message.certificates) {
    const { proposal } = certificate;
    // What an earlier epoch decided is done, and whatever else comes of it counts for nothing.
    if (proposal.topologyDigest !== step.membership.digest) continue;
    const id = proposalId(crypto, proposal);
    const preparation = step.state.undecided.preparations.get(id);
    // A prepared proposal is not applied: the common way reads no row.
    const decision = preparation === undefined ? decisionOf(view, id, proposal) : undefined;
    if (decision !== undefined) again = (again ?? new Map<Digest, Decision>()).set(id, decision);
    else if (!isComplete(crypto, step.membership, id, certificate)) continue;
    else if (preparation === undefined) quarantineIfForgotten(step, certificate);
    else if (isFree(step, preparation, message.acks) && !fresh.some((each) => each.id === id)) {
      fresh.push({ id, certificate });
      for (const receipt of certificate.receipts) step.noteSeen(receipt);
    }
  }
  const acks: Array<SignedStatement> = [];
  if (again !== undefined)
    reacknowledge(step, again, (all) => {
      for (const { ack } of all.values()) if (ack !== undefined) acks.push(ack);
    });
  if (step.state.fitness.quarantine === undefined) apply(step, fresh, (signed) => acks.push(...signed));
  step.whenSigned(() => {
    if (acks.length > 0) step.send(from, { _tag: "CommitAcks", statements: acks });
  });
  if (from === step.membership.writer) markStable(step, message.stableSeq);
};

/**
 * Whether this peer may apply a certificate: nobody opposes it, or a member that is neither this one nor the
 * refuser has applied it. Then the refuser signed both and is the faulty one, and nobody can ever abort.
 */
const isFree = (step: Step, { id, proposal, refusal }: Preparation, acks: ReadonlyArray<SignedStatement>): boolean =>
  refusal === undefined ||
  acks.some(
    (ack) =>
      signerOf(ack) !== step.self &&
      signerOf(ack) !== signerOf(refusal) &&
      ack.statement.kind === "COMMIT_ACK" &&
      ack.statement.proposalId === id &&
      ack.statement.seq === proposal.seq &&
      ack.header.incarnation === step.recordedIncarnation(signerOf(ack)) &&
      isAuthentic(step.context.crypto, step.membership, ack),
  );

/** A complete certificate holds this peer's receipt; if this peer has no record of it, its disk went back in time. */
const quarantineIfForgotten = (step: Step, { receipts }: Certificate): void => {
  const own = receipts.find((each) => signerOf(each) === step.self);
  if (own?.header.incarnation === step.state.signed.chain.incarnation)
    step.quarantine(`this peer signed batch ${own.header.batchNo} and does not remember it`);
};

/**
 * A change that the writer knows to be acknowledged by all needs no outbox row here. Without this peer's own
 * acknowledgement the row stays: it is the reminder to sign one.
 */
export const markStable = (step: Step, seq: number): void => {
  for (const delivery of step.state.undecided.outbox.values())
    if (delivery.seq <= seq && delivery.acks.has(step.self)) confirm(step, delivery);
};

const confirm = (step: Step, { seq, isPrunable }: Delivery): void => {
  if (isPrunable) return;
  recordConfirmed(step, seq);
  step.arm("prune", PRUNE_MILLIS);
};

export const onCommitAcks = (step: Step, { statements }: MessageOf<"CommitAcks">): void => {
  const late: Array<PeerId> = [];
  for (const signed of statements) {
    const { statement, header } = signed;
    const delivery = step.state.undecided.outbox.get(statement.seq);
    if (delivery === undefined || statement.kind !== "COMMIT_ACK" || statement.proposalId !== delivery.id) continue;
    if (delivery.acks.has(header.peerId)) continue;
    if (isOfEarlierIncarnation(step, signed)) late.push(header.peerId);
    if (header.incarnation !== step.recordedIncarnation(header.peerId)) continue;
    if (!isAuthentic(step.context.crypto, step.membership, signed)) continue;
    step.noteSeen(signed);
    countCommitAck(step, delivery.seq, signed);
    concludeDelivery(step, delivery.seq);
  }
  remind(step, late);
};

/** When all have acknowledged: the writer drops its locks and answers; the outbox row may go. */
const concludeDelivery = (step: Step, seq: number): void => {
  const delivery = step.state.undecided.outbox.get(seq);
  if (delivery === undefined || delivery.acks.size !== step.membership.peerIds.length) return;
  confirm(step, delivery);
  if (!step.isWriter) return;
  const round = closeConfirmed(step, delivery);
  if (round !== undefined) answerConfirmed(step, round, statementsInOrder(step.membership, delivery.acks));
};

/** Delivers again, to members that have not acknowledged, what has waited for it long enough. */
export const onDeliverTimer = (step: Step): void => {
  const open = [...step.state.undecided.outbox.values()].filter((each) => !each.isPrunable);
  const until = step.elapsed + (open.some((each) => each.dueAt <= step.elapsed) ? TOGETHER_MILLIS : 0);
  const due = open.filter((each) => each.dueAt <= until).slice(0, step.capacities.proposalsPerMessage);
  for (const peerId of step.others) {
    const missing = due.filter((each) => !each.acks.has(peerId));
    const certificates = missing.flatMap((each) => step.context.view.get("certificates", each.id) ?? []);
    const acks = missing.flatMap((each) => each.acks.get(step.self) ?? []);
    if (certificates.length > 0) step.send(peerId, { _tag: "Commit", certificates, acks, stableSeq: stableSeq(step) });
  }
  deliveredAgain(step, due, step.elapsed + DELIVER_MILLIS);
  const { outbox } = step.state.undecided;
  const next = open.reduce(
    (earliest, { seq }) => Math.min(earliest, outbox.get(seq)?.dueAt ?? earliest),
    Number.POSITIVE_INFINITY,
  );
  if (open.length > 0) step.arm("deliver", Math.max(1, next - step.elapsed));
};

/**
 * Whether something is under way here: its next transaction removes rows that are no longer needed, and its last
 * acknowledgement sets the timer again.
 */
const isUnderWay = ({ state }: Step): boolean =>
  state.undecided.preparations.size > 0 || state.undecided.outbox.size > state.undecided.prunable;

/** An idle peer clears its outbox by itself, and an idle writer tells the others that they may too. */
export const onPruneTimer = (step: Step): void => {
  if (step.state.undecided.prunable === 0 || isUnderWay(step)) return;
  prune(step);
  tellStable(step);
};

/** The writer tells the others what they need not keep, if there is anything. */
export const tellStable = (step: Step): void => {
  const stable = stableSeq(step);
  if (step.isWriter && stable > 0) step.sendAll({ _tag: "Commit", certificates: [], acks: [], stableSeq: stable });
};
