/**
 * How a proposal ends that cannot be committed: by the durable abort votes of all
 * members, never by fewer of them and never by time (protocol.md 4a, S4, S5).
 *
 * A REFUSAL proves that no certificate can exist, unless the refuser contradicts
 * itself. So one refusal is not enough: whoever has prepared gives its claim up
 * with a PLEDGE, and from then on neither assembles a certificate nor applies
 * one. REFUSAL, PLEDGE and ABORT_ACK of all members together end the proposal.
 */
import type { Digest } from "../base/Digest.ts";
import { Limits } from "../base/Limits.ts";
import type { Aborting, Preparation, Refused } from "./Undecided.ts";
import { slotKey } from "./Tables.ts";
import type { Draft } from "./SignedBatch.ts";
import type { Turn } from "./Turn.ts";
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
import { quarantineIfForgotten } from "./Rollback.ts";
import { signEach } from "./SignEach.ts";
import { isAuthentic, type SignedStatement, signerOf } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";

const abortKinds: ReadonlySet<string> = new Set(["REFUSAL", "PLEDGE", "ABORT_ACK"]);

/** Whether a statement is of a kind that counts towards an abort. */
export const isAbortKind = ({ statement }: SignedStatement): boolean => abortKinds.has(statement.kind);

const isRefusal = ({ statement }: SignedStatement): boolean => statement.kind === "REFUSAL";

/** Whether it counts here: about this proposal, authentic, at the incarnation on record for its signer. */
const isAbortVote = (turn: Turn, id: Digest, seq: number, signed: SignedStatement): boolean =>
  isAbortKind(signed) &&
  signed.statement.proposalId === id &&
  signed.statement.seq === seq &&
  signed.header.incarnation === turn.recordedIncarnation(signerOf(signed)) &&
  isAuthentic(turn.context.crypto, turn.membership, signed);

/** Whether a message about a proposal may be acted on: it names this topology and carries the writer's receipt. */
export const isAboutProposal = (turn: Turn, id: Digest, { proposal, receipt }: SettleItem): boolean => {
  const { membership, context } = turn;
  return (
    proposal.topologyDigest === membership.digest &&
    proposal.epoch === membership.topology.epoch &&
    proposal.clusterId === membership.topology.clusterId &&
    proposal.writer === membership.writer &&
    signerOf(receipt) === membership.writer &&
    isReceiptFor(context.crypto, membership, id, proposal, receipt)
  );
};

/** A refusal of a proposal unknown here; undefined for a slot too far ahead or with no room left. */
export const refusalOf = (
  turn: Turn,
  id: Digest,
  { proposal, receipt }: SettleItem,
  code: string,
  soFar: ReadonlyArray<Refusing>,
): Refusing | undefined => {
  const { epoch, seq } = proposal;
  // Who is recovering does not know yet how far the slots go, and binds none.
  const isRecovering = turn.mode === "recovering";
  if (seq < 1 || (!isRecovering && seq > turn.state.undecided.decidedSeq + Limits.slotWindow)) return undefined;
  // Settling goes on where new preparations are refused, up to what all undecided slots may take.
  if (turn.state.undecided.refused.size + soFar.length >= Limits.refusals + Limits.preparations) return undefined;
  const isTaken = soFar.some((each) => each.bindsSlot && each.proposal.seq === seq);
  const bindsSlot = !isRecovering && !isTaken && turn.context.view.get("slots", slotKey(epoch, seq)) === undefined;
  return { id, proposal, writerReceipt: receipt, code, bindsSlot };
};

/** Takes abort votes into the books; returns the proposals they were about. */
const noteVotes = (turn: Turn, statements: ReadonlyArray<SignedStatement>): ReadonlySet<Digest> => {
  const touched = new Set<Digest>();
  for (const signed of statements) {
    const id = signed.statement.proposalId;
    const preparation = turn.state.undecided.preparations.get(id);
    const refused = turn.state.undecided.refused.get(id);
    const aborting = turn.state.undecided.aborting.get(id);
    const undecided = preparation ?? refused;
    if (undecided !== undefined) {
      if (!isNewVote(turn, undecided, signed)) continue;
      turn.noteSeen(signed);
      countAbortVote(turn, undecided, signed);
    } else if (aborting !== undefined) noteAbortAck(turn, aborting, signed);
    touched.add(id);
  }
  return touched;
};

/** Whether it is another member's vote, and says more than what is held. */
const isNewVote = (turn: Turn, { id, proposal, votes }: Preparation | Refused, signed: SignedStatement): boolean => {
  // This peer's own vote is recorded when it is made, and at no other time.
  if (signerOf(signed) === turn.self) return false;
  // A refusal says more than the other kinds: only it makes this peer pledge.
  const held = votes.get(signerOf(signed));
  if (held !== undefined && (isRefusal(held) || !isRefusal(signed))) return false;
  return isAbortVote(turn, id, proposal.seq, signed);
};

const noteAbortAck = (turn: Turn, aborting: Aborting, signed: SignedStatement): void => {
  const { id, proposal, acks } = aborting;
  if (signed.statement.kind !== "ABORT_ACK" || acks.has(signerOf(signed))) return;
  if (!isAbortVote(turn, id, proposal.seq, signed)) return;
  turn.noteSeen(signed);
  countAbortAck(turn, aborting, signed);
};

/** Pledges on those of the proposals that somebody else has refused. */
const pledge = (turn: Turn, ids: Iterable<Digest>): ReadonlyArray<Digest> => {
  const drafts = [...ids].flatMap((id): ReadonlyArray<Draft> => {
    const preparation = turn.state.undecided.preparations.get(id);
    if (preparation?.refusal === undefined || preparation.pledge !== undefined) return [];
    const { proposal, refusal } = preparation;
    return [{ kind: "PLEDGE", proposalId: id, seq: proposal.seq, detail: String(signerOf(refusal)) }];
  });
  signEach(
    turn,
    drafts,
    (draft) => draft,
    (_, signed) => {
      const preparation = turn.state.undecided.preparations.get(signed.statement.proposalId);
      if (preparation !== undefined) recordPledged(turn, preparation, signed);
    },
    () => turn.arm("resolve", resolveDelay(turn)),
  );
  return drafts.map((draft) => draft.proposalId);
};

/** Those of the proposals on which every member has voted for the end. */
const completeOf = (turn: Turn, ids: Iterable<Digest>): ReadonlyArray<Preparation | Refused> =>
  [...ids].flatMap((id) => {
    const undecided = turn.state.undecided.preparations.get(id) ?? turn.state.undecided.refused.get(id);
    return undecided !== undefined && undecided.votes.size === turn.membership.peerIds.length ? [undecided] : [];
  });

/** Aborts proposals whose votes are complete, signs an acknowledgement for each, and hands these on. */
const abort = (
  turn: Turn,
  complete: ReadonlyArray<Preparation | Refused>,
  run: (acks: ReadonlyArray<SignedStatement>) => void,
): void =>
  signEach(
    turn,
    complete,
    ({ id, proposal }) => ({ kind: "ABORT_ACK", proposalId: id, seq: proposal.seq, detail: "" }),
    (undecided, ack) => abortOne(turn, undecided, ack),
    run,
  );

const abortOne = (turn: Turn, undecided: Preparation | Refused, ack: SignedStatement): void => {
  const round = recordAborted(turn, undecided, ack);
  if (!("receipts" in undecided)) return;
  noteAborted(turn, undecided.proposal);
  if (turn.isWriter) turn.arm("resolve", resolveDelay(turn));
  if (round !== undefined) answerRefused(turn, round, undecided.proposal);
};

/** All that is known about a proposal's end, for another member. */
const itemOf = (turn: Turn, id: Digest): AbortItem | undefined => {
  const open = turn.state.undecided.preparations.get(id) ?? turn.state.undecided.aborting.get(id);
  if (open !== undefined)
    return { proposal: open.proposal, receipt: open.writerReceipt, votes: [...open.votes.values()] };
  const refused = turn.state.undecided.refused.get(id);
  const row = refused && turn.context.view.get("refusals", id);
  return refused && row && { proposal: row.proposal, receipt: row.writerReceipt, votes: [...refused.votes.values()] };
};

/** Whether a member still owes its vote, or at the writer its acknowledgement. */
const owes = (turn: Turn, id: Digest, peerId: PeerId): boolean => {
  const undecided = turn.state.undecided.preparations.get(id) ?? turn.state.undecided.refused.get(id);
  return undecided !== undefined
    ? !undecided.votes.has(peerId)
    : turn.state.undecided.aborting.get(id)?.acks.has(peerId) === false;
};

/** Asks for the votes that are still missing. */
export const requestAborts = (turn: Turn, ids: ReadonlyArray<Digest>): void => {
  for (const peerId of turn.others) {
    const missing = ids.filter((id) => owes(turn, id, peerId));
    sendItems(
      turn,
      missing.flatMap((id) => itemOf(turn, id) ?? []),
      [peerId],
    );
  }
};

const sendItems = (turn: Turn, items: ReadonlyArray<AbortItem>, to: ReadonlyArray<PeerId>): void => {
  for (let from = 0; from < items.length; from += Limits.batchProposals)
    turn.sendAll({ _tag: "AbortRequest", items: items.slice(from, from + Limits.batchProposals) }, to);
};

/** Abort votes that came as answers: this peer is settling, so it asks for what is missing and tells what is complete. */
export const onAbortVotes = (turn: Turn, statements: ReadonlyArray<SignedStatement>): void => {
  if (turn.mode !== "active") return;
  const touched = noteVotes(turn, statements);
  const pledged = pledge(turn, touched);
  turn.whenSigned(() => {
    const complete = completeOf(turn, touched);
    const ended = complete.flatMap(({ id }) => itemOf(turn, id) ?? []);
    abort(turn, complete, () => undefined);
    turn.whenSigned(() => {
      requestAborts(turn, pledged);
      sendItems(turn, ended, turn.others);
    });
  });
};

/** Somebody settles: this peer votes if it has not, aborts if the votes are complete, and answers with its own. */
export const onAbortRequest = (turn: Turn, from: PeerId, { items }: MessageOf<"AbortRequest">): void => {
  const { crypto, view } = turn.context;
  const isRecovering = turn.mode === "recovering";
  const asked = new Map<Digest, AbortItem>();
  for (const item of items) {
    const id = proposalId(crypto, item.proposal);
    if (isAboutProposal(turn, id, item)) asked.set(id, item);
  }
  const shown = [...asked.values()];
  const votes = shown.flatMap((item) => item.votes);
  if (quarantineIfForgotten(turn, [...votes, ...shown.map((item) => item.receipt)])) return;
  const decided = new Map<Digest, Decision>();
  const refusing: Array<Refusing> = [];
  const unknown: Array<readonly [Digest, SettleItem]> = [];
  for (const [id, item] of asked) {
    if (turn.state.undecided.preparations.has(id) || turn.state.undecided.refused.has(id)) continue;
    // What the disk of a restored peer says of outcomes counts only once it is that of the others.
    const decision = isRecovering ? undefined : decisionOf(view, id, item.proposal);
    if (decision !== undefined) decided.set(id, decision);
    else if (isRecovering) unknown.push([id, item]);
    else {
      const isRefused = item.votes.some((vote) => isRefusal(vote) && isAbortVote(turn, id, item.proposal.seq, vote));
      // Its writer asks for votes for the end: the refusals it knew may be of lives that are over.
      const code = isRefused ? "REFUSED_BY_ANOTHER" : finalCode(turn, item.proposal, from);
      const refusal = code === undefined ? undefined : refusalOf(turn, id, item, code, refusing);
      if (refusal !== undefined) refusing.push(refusal);
    }
  }
  inquire(turn, unknown);
  refuse(turn, refusing, () => undefined);
  turn.whenSigned(() => {
    // Votes are counted again once this peer knows what they are about.
    if (!isRecovering) noteVotes(turn, votes);
    pledge(turn, asked.keys());
    turn.whenSigned(() => {
      const statements: Array<SignedStatement> = [];
      reacknowledge(turn, decided, (all) => {
        for (const { ack } of all.values()) if (ack !== undefined) statements.push(ack);
        sendApplied(turn, from, all);
      });
      if (!isRecovering) abort(turn, completeOf(turn, asked.keys()), (acks) => statements.push(...acks));
      turn.whenSigned(() => {
        for (const id of asked.keys()) statements.push(...ownVote(turn, id));
        if (statements.length > 0) turn.send(from, { _tag: "Votes", statements });
      });
    });
  });
};

/** What this peer says of a proposal that is undecided here. */
const ownVote = (turn: Turn, id: Digest): ReadonlyArray<SignedStatement> => {
  const preparation = turn.state.undecided.preparations.get(id);
  if (preparation !== undefined) return [preparation.pledge ?? preparation.own];
  const refusal = turn.state.undecided.refused.get(id)?.votes.get(turn.self);
  return refusal === undefined ? [] : [refusal];
};

/** Certificates of what is applied here, with this peer's acknowledgements. */
export const sendApplied = (turn: Turn, to: PeerId, decided: ReadonlyMap<Digest, Decision>): void => {
  const certificates: Array<Certificate> = [];
  const acks: Array<SignedStatement> = [];
  for (const [id, { ack }] of decided) {
    const certificate = turn.context.view.get("certificates", id);
    if (certificate === undefined) continue;
    certificates.push(certificate);
    if (ack !== undefined) acks.push(ack);
  }
  if (certificates.length === 0) return;
  turn.send(to, { _tag: "Commit", certificates, acks, stableSeq: turn.isWriter ? stableSeq(turn) : 0 });
};
