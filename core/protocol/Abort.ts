/**
 * How a proposal that cannot be committed ends: by the durable abort votes of all members, never by fewer of them and
 * never by time (protocol.md 4a, S4, S5).
 *
 * A REFUSAL proves that no certificate can exist, unless the refuser contradicts itself. So one refusal is not enough:
 * every member that has prepared gives up its claim with a PLEDGE, and from then on neither assembles a certificate nor
 * applies one. REFUSAL, PLEDGE and ABORT_ACK of all members together end the proposal.
 */
import type { Digest } from "../base/Digest.ts";
import { hasRoomToAbort } from "./AbortPace.ts";
import type { Aborting, Preparation, RefusedProposal } from "./Undecided.ts";
import { slotKey } from "./Tables.ts";
import type { Draft } from "./SignedBatch.ts";
import type { Step } from "./Step.ts";
import { type Certificate, isReceiptFor } from "./Certificate.ts";
import { stableSeq } from "./Delivery.ts";
import { type Decision, decisionOf } from "./Decision.ts";
import { inquire } from "./Inquiry.ts";
import type { AbortItem, MessageOf, SettleItem } from "./Message.ts";
import { countAbortAck, countAbortVote, recordAborted, recordPledged, type Refusing } from "./Lifecycle.ts";
import { noteAborted } from "./OwnRequest.ts";
import { resolveDelay } from "./Preparations.ts";
import { proposalId } from "./Proposal.ts";
import { answerRefused, finalCode, refuse } from "./Refusals.ts";
import { reacknowledge } from "./Reacknowledge.ts";
import { isOfEarlierIncarnation, remind } from "./Reminders.ts";
import { quarantineIfForgotten } from "./Rollback.ts";
import { signEach } from "./SignEach.ts";
import { isAuthentic, type SignedStatement, signerOf } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";

const abortKinds: ReadonlySet<string> = new Set(["REFUSAL", "PLEDGE", "ABORT_ACK"]);

/** Whether a statement is of a kind that counts towards an abort. */
export const isAbortKind = ({ statement }: SignedStatement): boolean => abortKinds.has(statement.kind);

const isRefusal = ({ statement }: SignedStatement): boolean => statement.kind === "REFUSAL";

/** Whether it counts here: about this proposal, authentic, in the incarnation on record for its signer. */
const isAbortVote = (step: Step, id: Digest, seq: number, signed: SignedStatement): boolean =>
  isAbortKind(signed) &&
  signed.statement.proposalId === id &&
  signed.statement.seq === seq &&
  signed.header.incarnation === step.recordedIncarnation(signerOf(signed)) &&
  isAuthentic(step.context.crypto, step.membership, signed);

/** Whether a message about a proposal may be acted on: it names this topology and carries the writer's receipt. */
export const isAboutProposal = (step: Step, id: Digest, { proposal, receipt }: SettleItem): boolean => {
  const { membership, context } = step;
  return (
    proposal.topologyDigest === membership.digest &&
    proposal.epoch === membership.topology.epoch &&
    proposal.seq >= membership.topology.firstSlot &&
    proposal.clusterId === membership.topology.clusterId &&
    proposal.writer === membership.writer &&
    signerOf(receipt) === membership.writer &&
    isReceiptFor(context.crypto, membership, id, proposal, receipt)
  );
};

/** A refusal of a proposal unknown here; undefined for a slot too far ahead, or where no room or no abort is left. */
export const refusalOf = (
  step: Step,
  id: Digest,
  { proposal, receipt }: SettleItem,
  code: string,
  soFar: ReadonlyArray<Refusing>,
): Refusing | undefined => {
  const { epoch, seq } = proposal;
  // A recovering peer does not know yet how far the slots go, and binds none.
  const isRecovering = step.mode === "recovering";
  if (seq < 1 || (!isRecovering && seq > step.state.undecided.decidedSeq + step.capacities.slotWindow))
    return undefined;
  // Settlement goes on past the limit of new preparations, by as many refusals as there can be preparations.
  if (step.state.undecided.refused.size + soFar.length >= step.capacities.refusals + step.capacities.preparations)
    return undefined;
  if (!hasRoomToAbort(step, soFar.length + 1)) return undefined;
  const isTaken = soFar.some((each) => each.bindsSlot && each.proposal.seq === seq);
  const bindsSlot = !isRecovering && !isTaken && step.context.view.get("slots", slotKey(epoch, seq)) === undefined;
  return { id, proposal, writerReceipt: receipt, code, bindsSlot };
};

/** Records abort votes; returns the proposals they were about. */
const noteVotes = (step: Step, statements: ReadonlyArray<SignedStatement>): ReadonlySet<Digest> => {
  const touched = new Set<Digest>();
  const late: Array<PeerId> = [];
  for (const signed of statements) {
    const id = signed.statement.proposalId;
    const preparation = step.state.undecided.preparations.get(id);
    const refused = step.state.undecided.refused.get(id);
    const aborting = step.state.undecided.aborting.get(id);
    const undecided = preparation ?? refused;
    const isOpen = undecided !== undefined || aborting !== undefined;
    if (isOpen && isOfEarlierIncarnation(step, signed)) late.push(signerOf(signed));
    if (undecided !== undefined) {
      if (!isNewVote(step, undecided, signed)) continue;
      step.noteSeen(signed);
      countAbortVote(step, undecided, signed);
    } else if (aborting !== undefined) noteAbortAck(step, aborting, signed);
    touched.add(id);
  }
  remind(step, late);
  return touched;
};

/** Whether it is another member's vote, and says more than the vote held for it. */
const isNewVote = (
  step: Step,
  { id, proposal, votes }: Preparation | RefusedProposal,
  signed: SignedStatement,
): boolean => {
  // This peer's own vote is recorded only when it is made.
  if (signerOf(signed) === step.self) return false;
  // A refusal outranks the other kinds: only it makes this peer pledge.
  const held = votes.get(signerOf(signed));
  if (held !== undefined && (isRefusal(held) || !isRefusal(signed))) return false;
  return isAbortVote(step, id, proposal.seq, signed);
};

const noteAbortAck = (step: Step, aborting: Aborting, signed: SignedStatement): void => {
  const { id, proposal, acks } = aborting;
  if (signed.statement.kind !== "ABORT_ACK" || acks.has(signerOf(signed))) return;
  if (!isAbortVote(step, id, proposal.seq, signed)) return;
  step.noteSeen(signed);
  countAbortAck(step, aborting, signed);
};

/** Pledges on those of the proposals that another member has refused. */
const pledge = (step: Step, ids: Iterable<Digest>): ReadonlyArray<Digest> => {
  const drafts = [...ids].flatMap((id): ReadonlyArray<Draft> => {
    const preparation = step.state.undecided.preparations.get(id);
    if (preparation?.refusal === undefined || preparation.pledge !== undefined) return [];
    const { proposal, refusal } = preparation;
    return [{ kind: "PLEDGE", proposalId: id, seq: proposal.seq, detail: String(signerOf(refusal)) }];
  });
  signEach(
    step,
    drafts,
    (draft) => draft,
    (_, signed) => {
      const preparation = step.state.undecided.preparations.get(signed.statement.proposalId);
      if (preparation !== undefined) recordPledged(step, preparation, signed);
    },
    () => step.arm("resolve", resolveDelay(step)),
  );
  return drafts.map((draft) => draft.proposalId);
};

/** Those of the proposals for which every member's abort vote is here. */
const completeOf = (step: Step, ids: Iterable<Digest>): ReadonlyArray<Preparation | RefusedProposal> =>
  [...ids].flatMap((id) => {
    const undecided = step.state.undecided.preparations.get(id) ?? step.state.undecided.refused.get(id);
    return undecided !== undefined && undecided.votes.size === step.membership.peerIds.length ? [undecided] : [];
  });

/** Aborts proposals whose votes are complete, signs an acknowledgement for each, and hands these on. */
const abort = (
  step: Step,
  complete: ReadonlyArray<Preparation | RefusedProposal>,
  run: (acks: ReadonlyArray<SignedStatement>) => void,
): void =>
  signEach(
    step,
    complete,
    ({ id, proposal }) => ({ kind: "ABORT_ACK", proposalId: id, seq: proposal.seq, detail: "" }),
    (undecided, ack) => abortOne(step, undecided, ack),
    run,
  );

const abortOne = (step: Step, undecided: Preparation | RefusedProposal, ack: SignedStatement): void => {
  const round = recordAborted(step, undecided, ack);
  if (!("receipts" in undecided)) return;
  noteAborted(step, undecided.proposal);
  if (step.isWriter) step.arm("resolve", resolveDelay(step));
  if (round !== undefined) answerRefused(step, round, undecided.proposal);
};

/** Everything known about a proposal's end, for another member. */
const itemOf = (step: Step, id: Digest): AbortItem | undefined => {
  const open = step.state.undecided.preparations.get(id) ?? step.state.undecided.aborting.get(id);
  if (open !== undefined)
    return { proposal: open.proposal, receipt: open.writerReceipt, votes: [...open.votes.values()] };
  const refused = step.state.undecided.refused.get(id);
  const row = refused && step.context.view.get("refusals", id);
  return refused && row && { proposal: row.proposal, receipt: row.writerReceipt, votes: [...refused.votes.values()] };
};

/** Whether a member still owes its vote or, when this peer is the writer, its acknowledgement. */
const owes = (step: Step, id: Digest, peerId: PeerId): boolean => {
  const undecided = step.state.undecided.preparations.get(id) ?? step.state.undecided.refused.get(id);
  return undecided !== undefined
    ? !undecided.votes.has(peerId)
    : step.state.undecided.aborting.get(id)?.acks.has(peerId) === false;
};

/** Asks for the missing votes. */
export const requestAborts = (step: Step, ids: ReadonlyArray<Digest>): void => {
  for (const peerId of step.others) {
    const missing = ids.filter((id) => owes(step, id, peerId));
    sendItems(
      step,
      missing.flatMap((id) => itemOf(step, id) ?? []),
      [peerId],
    );
  }
};

const sendItems = (step: Step, items: ReadonlyArray<AbortItem>, to: ReadonlyArray<PeerId>): void => {
  const { proposalsPerMessage } = step.capacities;
  for (let from = 0; from < items.length; from += proposalsPerMessage)
    step.sendAll({ _tag: "AbortRequest", items: items.slice(from, from + proposalsPerMessage) }, to);
};

/** Abort votes that came as answers to this peer: it asks for missing votes and passes on complete sets. */
export const onAbortVotes = (step: Step, statements: ReadonlyArray<SignedStatement>): void => {
  if (step.mode !== "active") return;
  const touched = noteVotes(step, statements);
  const pledged = pledge(step, touched);
  step.whenSigned(() => {
    const complete = completeOf(step, touched);
    const ended = complete.flatMap(({ id }) => itemOf(step, id) ?? []);
    abort(step, complete, () => undefined);
    step.whenSigned(() => {
      // All votes on what has ended go to everybody below.
      const isOver = new Set(complete.map(({ id }) => id));
      requestAborts(
        step,
        pledged.filter((id) => !isOver.has(id)),
      );
      sendItems(step, ended, step.others);
    });
  });
};

/** Another member is settling: this peer votes if it has not, aborts if the votes are complete, and answers. */
export const onAbortRequest = (step: Step, from: PeerId, { items }: MessageOf<"AbortRequest">): void => {
  const { crypto, view } = step.context;
  const isRecovering = step.mode === "recovering";
  const asked = new Map<Digest, AbortItem>();
  for (const item of items) {
    const id = proposalId(crypto, item.proposal);
    if (isAboutProposal(step, id, item)) asked.set(id, item);
  }
  const shown = [...asked.values()];
  if (
    quarantineIfForgotten(
      step,
      shown.flatMap(({ votes, receipt }) => [...votes, receipt]),
    )
  )
    return;
  // A vote on another proposal would be counted, and not answered.
  const votes = [...asked].flatMap(([id, item]) => item.votes.filter(({ statement }) => statement.proposalId === id));
  const decided = new Map<Digest, Decision>();
  const refusing: Array<Refusing> = [];
  const unknown: Array<readonly [Digest, SettleItem]> = [];
  for (const [id, item] of asked) {
    if (step.state.undecided.preparations.has(id) || step.state.undecided.refused.has(id)) continue;
    // Outcomes on a restored peer's disk count only once its registry is that of the others.
    const decision = isRecovering ? undefined : decisionOf(view, id, item.proposal);
    if (decision !== undefined) decided.set(id, decision);
    else if (isRecovering) unknown.push([id, item]);
    else {
      const isRefused = item.votes.some((vote) => isRefusal(vote) && isAbortVote(step, id, item.proposal.seq, vote));
      // Its writer asks for abort votes: the refusals it knew may be of superseded incarnations.
      const code = isRefused ? "REFUSED_BY_ANOTHER" : finalCode(step, item.proposal, from);
      const refusal = code === undefined ? undefined : refusalOf(step, id, item, code, refusing);
      if (refusal !== undefined) refusing.push(refusal);
    }
  }
  inquire(step, unknown);
  refuse(step, refusing, () => undefined);
  step.whenSigned(() => {
    // Votes are counted again once this peer knows the proposal they are about.
    if (!isRecovering) noteVotes(step, votes);
    pledge(step, asked.keys());
    step.whenSigned(() => {
      const statements: Array<SignedStatement> = [];
      reacknowledge(step, decided, (all) => {
        for (const { ack } of all.values()) if (ack !== undefined) statements.push(ack);
        sendApplied(step, from, all);
      });
      if (!isRecovering) abort(step, completeOf(step, asked.keys()), (acks) => statements.push(...acks));
      step.whenSigned(() => {
        for (const id of asked.keys()) statements.push(...ownVote(step, id));
        if (statements.length > 0) step.send(from, { _tag: "Votes", statements });
      });
    });
  });
};

/** The vote of this peer on a proposal that is undecided here. */
const ownVote = (step: Step, id: Digest): ReadonlyArray<SignedStatement> => {
  const preparation = step.state.undecided.preparations.get(id);
  if (preparation !== undefined) return [preparation.pledge ?? preparation.own];
  const refusal = step.state.undecided.refused.get(id)?.votes.get(step.self);
  return refusal === undefined ? [] : [refusal];
};

/**
 * What a recovering peer does about proposals that another one holds prepared: where its disk has acknowledged one it has
 * erased what that erases, and shows the certificate instead of refusing it. Receipts count for ever, and whoever opposes
 * it takes no certificate (protocol.md 4i). What it has merely taken over it may lack the share for. Returns the rest.
 */
export const showProven = (step: Step, to: PeerId, asked: ReadonlyMap<Digest, SettleItem>): Map<Digest, SettleItem> => {
  const unproven = new Map(asked);
  const proven = new Map<Digest, Decision>();
  for (const [id, { proposal }] of asked) {
    const decision = decisionOf(step.context.view, id, proposal);
    if (decision?.outcome !== "APPLIED" || decision.ack === undefined) continue;
    unproven.delete(id);
    // An acknowledgement of another incarnation counts for nothing.
    proven.set(id, { ...decision, ack: undefined });
  }
  sendApplied(step, to, proven);
  return unproven;
};

/** Certificates of proposals applied here, with this peer's acknowledgements. */
export const sendApplied = (step: Step, to: PeerId, decided: ReadonlyMap<Digest, Decision>): void => {
  const certificates: Array<Certificate> = [];
  const acks: Array<SignedStatement> = [];
  for (const [id, { ack }] of decided) {
    const certificate = step.context.view.get("certificates", id);
    if (certificate === undefined) continue;
    certificates.push(certificate);
    if (ack !== undefined) acks.push(ack);
  }
  if (certificates.length === 0) return;
  step.send(to, { _tag: "Commit", certificates, acks, stableSeq: step.isWriter ? stableSeq(step) : 0 });
};
