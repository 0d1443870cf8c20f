/**
 * After the certificate: every member applies it in one flushed transaction with
 * its audit row and its outbox row, and acknowledges. The outbox row stays until
 * all have acknowledged, so one delivery before a crash is enough (protocol.md 4b).
 */
import type { Digest } from "../base/Digest.ts";
import type { Delivery, Preparation } from "./Undecided.ts";
import { Limits } from "../base/Limits.ts";
import type { Turn } from "./Turn.ts";
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
import { signEach } from "./SignEach.ts";
import { isAuthentic, type SignedStatement, signerOf } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";

const DELIVER_MILLIS = 1_000;
const PRUNE_MILLIS = 50;
/** Acknowledgements in one message. */
const ACKS = Limits.preparations;

interface Committed {
  readonly id: Digest;
  readonly certificate: Certificate;
}

/** The highest slot below which the writer knows everything acknowledged by all. */
export const stableSeq = ({ state }: Turn): number => {
  let stable = state.undecided.highSeq;
  for (const { seq, isPrunable } of state.undecided.outbox.values())
    if (!isPrunable) stable = Math.min(stable, seq - 1);
  for (const { proposal } of state.undecided.preparations.values()) stable = Math.min(stable, proposal.seq - 1);
  for (const { proposal } of state.undecided.aborting.values()) stable = Math.min(stable, proposal.seq - 1);
  return stable;
};

/**
 * Whether as much waits for acknowledgements as may: who withholds its own must not fill the memory of all others.
 * Honest members come nowhere near it, because nothing is begun while one of them is away.
 */
export const isOverdue = ({ state }: Turn): boolean =>
  state.undecided.outbox.size - state.undecided.prunable >= Limits.unacknowledged;

/** Commits those of the proposals whose receipts are complete, and delivers them to every other member. */
export const commitCompleted = (turn: Turn, ids: Iterable<Digest>): void => {
  const completed: Array<Committed> = [];
  for (const id of ids) {
    if (completed.some((each) => each.id === id)) continue;
    const preparation = turn.state.undecided.preparations.get(id);
    // Whoever has pledged neither assembles a certificate nor applies one (protocol.md 4a).
    if (preparation?.refusal !== undefined) continue;
    const certificate = preparation && assemble(turn.membership, preparation.proposal, preparation.receipts);
    if (certificate !== undefined) completed.push({ id, certificate });
  }
  if (completed.length === 0) return;
  // Taken before they are applied: from then on until the acknowledgements are in, nothing holds these slots open.
  const stable = stableSeq(turn);
  apply(turn, completed, () => undefined);
  // Receipts of others were flushed by them, one's own in the turn that signed it: nothing here waits.
  const certificates = completed.map((each) => each.certificate);
  for (let from = 0; from < certificates.length; from += Limits.batchProposals) {
    const chunk = certificates.slice(from, from + Limits.batchProposals);
    turn.sendFlushed({ _tag: "Commit", certificates: chunk, acks: [], stableSeq: stable }, turn.others);
  }
};

/** Applies certificates, signs one acknowledgement each, and hands these on. */
const apply = (
  turn: Turn,
  committed: ReadonlyArray<Committed>,
  run: (acks: ReadonlyArray<SignedStatement>) => void,
): void => {
  for (const each of committed) applyOne(turn, each);
  turn.arm("deliver", DELIVER_MILLIS);
  // Applying binds nobody; saying so does, and waits until this peer has joined.
  if (turn.mode === "joining") return run([]);
  acknowledge(
    turn,
    committed.map(({ certificate }) => certificate.proposal.seq),
    run,
  );
};

/** Signs and records an acknowledgement for what is applied in each of the slots. */
const acknowledge = (
  turn: Turn,
  seqs: ReadonlyArray<number>,
  run: (acks: ReadonlyArray<SignedStatement>) => void,
): void =>
  signEach(
    turn,
    seqs.flatMap((seq) => turn.state.undecided.outbox.get(seq) ?? []),
    ({ id, seq }) => ({ kind: "COMMIT_ACK", proposalId: id, seq, detail: "" }),
    (delivery, ack) => {
      recordAcknowledged(turn, delivery, ack);
      concludeDelivery(turn, delivery.seq);
    },
    run,
  );

/** What was applied while this peer was joining is acknowledged when it has joined. */
export const acknowledgeLate = (turn: Turn): void => {
  const late = [...turn.state.undecided.outbox.values()].filter((each) => !each.acks.has(turn.self));
  acknowledge(
    turn,
    late.map((each) => each.seq),
    (acks) => {
      for (let from = 0; from < acks.length; from += ACKS) {
        const statements = acks.slice(from, from + ACKS);
        turn.sendAll({ _tag: "CommitAcks", statements });
      }
    },
  );
};

const applyOne = (turn: Turn, { id, certificate }: Committed): void => {
  const { proposal } = certificate;
  turn.command(proposal).apply(turn, id, proposal.effects);
  noteApplied(turn, proposal);
  recordApplied(turn, id, certificate, turn.elapsed + DELIVER_MILLIS);
  writeAudit(turn, id, proposal);
};

/** A certificate from another member: verified and applied in one go, or answered again from what is stored. */
export const onCommit = (turn: Turn, from: PeerId, message: MessageOf<"Commit">): void => {
  const { crypto, view } = turn.context;
  let again: Map<Digest, Decision> | undefined;
  const fresh: Array<Committed> = [];
  for (const certificate of message.certificates) {
    const { proposal } = certificate;
    const id = proposalId(crypto, proposal);
    const preparation = turn.state.undecided.preparations.get(id);
    // What is prepared is not applied: the common way reads no row.
    const decision = preparation === undefined ? decisionOf(view, id, proposal) : undefined;
    if (decision !== undefined) again = (again ?? new Map<Digest, Decision>()).set(id, decision);
    else if (!isComplete(crypto, turn.membership, id, certificate)) continue;
    else if (preparation === undefined) forgotten(turn, certificate);
    else if (isFree(turn, preparation, message.acks) && !fresh.some((each) => each.id === id)) {
      fresh.push({ id, certificate });
      for (const receipt of certificate.receipts) turn.noteSeen(receipt);
    }
  }
  const acks: Array<SignedStatement> = [];
  if (again !== undefined)
    reacknowledge(turn, again, (all) => {
      for (const { ack } of all.values()) if (ack !== undefined) acks.push(ack);
    });
  if (turn.state.standing.quarantine === undefined) apply(turn, fresh, (signed) => acks.push(...signed));
  turn.whenSigned(() => {
    if (acks.length > 0) turn.send(from, { _tag: "CommitAcks", statements: acks });
  });
  if (from === turn.membership.writer) markStable(turn, message.stableSeq);
};

/**
 * Whether this peer may apply a certificate: it has not pledged, or somebody who is neither itself nor the
 * refuser has applied it. Then the refuser signed both and is the faulty one, and nobody can ever abort.
 */
const isFree = (turn: Turn, { id, proposal, refusal }: Preparation, acks: ReadonlyArray<SignedStatement>): boolean =>
  refusal === undefined ||
  acks.some(
    (ack) =>
      signerOf(ack) !== turn.self &&
      signerOf(ack) !== signerOf(refusal) &&
      ack.statement.kind === "COMMIT_ACK" &&
      ack.statement.proposalId === id &&
      ack.statement.seq === proposal.seq &&
      ack.header.incarnation === turn.recordedIncarnation(signerOf(ack)) &&
      isAuthentic(turn.context.crypto, turn.membership, ack),
  );

/** A complete certificate holds a receipt of this peer; one it has no record of means that its disk went back in time. */
const forgotten = (turn: Turn, { receipts }: Certificate): void => {
  const own = receipts.find((each) => signerOf(each) === turn.self);
  if (own?.header.incarnation === turn.state.signed.chain.incarnation)
    turn.quarantine(`this peer signed batch ${own.header.batchNo} and does not remember it`);
};

/**
 * What the writer knows to be acknowledged by all needs no outbox row here. What this peer itself has not
 * acknowledged yet, it knows better: the row reminds it to.
 */
export const markStable = (turn: Turn, seq: number): void => {
  for (const delivery of turn.state.undecided.outbox.values())
    if (delivery.seq <= seq && delivery.acks.has(turn.self)) confirm(turn, delivery);
};

const confirm = (turn: Turn, { seq, isPrunable }: Delivery): void => {
  if (isPrunable) return;
  recordConfirmed(turn, seq);
  turn.arm("prune", PRUNE_MILLIS);
};

export const onCommitAcks = (turn: Turn, { statements }: MessageOf<"CommitAcks">): void => {
  for (const signed of statements) {
    const { statement, header } = signed;
    const delivery = turn.state.undecided.outbox.get(statement.seq);
    if (delivery === undefined || statement.kind !== "COMMIT_ACK" || statement.proposalId !== delivery.id) continue;
    if (delivery.acks.has(header.peerId) || header.incarnation !== turn.recordedIncarnation(header.peerId)) continue;
    if (!isAuthentic(turn.context.crypto, turn.membership, signed)) continue;
    turn.noteSeen(signed);
    countCommitAck(turn, delivery.seq, signed);
    concludeDelivery(turn, delivery.seq);
  }
};

/** When all have acknowledged: the writer drops its locks and answers; the outbox row may go. */
const concludeDelivery = (turn: Turn, seq: number): void => {
  const delivery = turn.state.undecided.outbox.get(seq);
  if (delivery === undefined || delivery.acks.size !== turn.membership.peerIds.length) return;
  confirm(turn, delivery);
  if (!turn.isWriter) return;
  const round = closeConfirmed(turn, delivery);
  if (round !== undefined) answerConfirmed(turn, round, statementsInOrder(turn.membership, delivery.acks));
};

/** Delivers again, to whoever has not acknowledged, what has waited for it long enough. */
export const onDeliverTimer = (turn: Turn): void => {
  const open = [...turn.state.undecided.outbox.values()].filter((each) => !each.isPrunable);
  const due = open.filter((each) => each.dueAt <= turn.elapsed).slice(0, Limits.batchProposals);
  for (const peerId of turn.others) {
    const missing = due.filter((each) => !each.acks.has(peerId));
    const certificates = missing.flatMap((each) => turn.context.view.get("certificates", each.id) ?? []);
    const acks = missing.flatMap((each) => each.acks.get(turn.self) ?? []);
    if (certificates.length > 0) turn.send(peerId, { _tag: "Commit", certificates, acks, stableSeq: stableSeq(turn) });
  }
  deliveredAgain(turn, due, turn.elapsed + DELIVER_MILLIS);
  const { outbox } = turn.state.undecided;
  const next = open.reduce(
    (earliest, { seq }) => Math.min(earliest, outbox.get(seq)?.dueAt ?? earliest),
    Number.POSITIVE_INFINITY,
  );
  if (open.length > 0) turn.arm("deliver", Math.max(1, next - turn.elapsed));
};

/**
 * Whether something is under way here: its next transaction takes along what is no longer needed, and its
 * last acknowledgement sets the timer again.
 */
const isUnderWay = ({ state }: Turn): boolean =>
  state.undecided.preparations.size > 0 || state.undecided.outbox.size > state.undecided.prunable;

/** An idle peer clears its outbox by itself, and an idle writer tells the others that they may too. */
export const onPruneTimer = (turn: Turn): void => {
  if (turn.state.undecided.prunable === 0 || isUnderWay(turn)) return;
  prune(turn);
  if (turn.isWriter) turn.sendAll({ _tag: "Commit", certificates: [], acks: [], stableSeq: stableSeq(turn) });
};
