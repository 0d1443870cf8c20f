/**
 * What becomes of a preparation when the writer does not say. Members ask each
 * other; answers carry every statement they hold, so scattered receipts meet and
 * any prepared member that holds all of them commits, without the writer and
 * without a token that is still valid (protocol.md 4a step 1 and 2, 4b).
 */
import type { Digest } from "../Digest.ts";
import { Limits } from "../Limits.ts";
import type { Preparation } from "../PeerState.ts";
import { rejection, type RejectionCode, rejectionCodes } from "../Rejection.ts";
import { slotKey } from "../Tables.ts";
import type { Turn } from "../Turn.ts";
import { answerRejected } from "./Answers.ts";
import { isReceiptFor } from "./Certificate.ts";
import { commitCompleted, stableSeq } from "./Delivery.ts";
import type { Message, MessageOf, PrepareItem } from "./Message.ts";
import { RESOLVE_MILLIS } from "./Preparations.ts";
import { type Proposal, proposalId } from "./Proposal.ts";
import { ownFault } from "./Readiness.ts";
import { isAuthentic, type SignedStatement, signerOf } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";

const RESOLVE_MAX_MILLIS = 5_000;
/** A batch that is short of a receipt for this long no longer holds up the next one. */
const STALLED_MILLIS = 1_000;

/** Receipts and refusals from anybody about proposals prepared here. */
export const onVotes = (turn: Turn, statements: ReadonlyArray<SignedStatement>): void => {
  if (ownFault(turn) !== undefined) return;
  const touched: Array<Digest> = [];
  for (const signed of statements) {
    const preparation = turn.state.preparations.get(signed.statement.proposalId);
    if (preparation === undefined) continue;
    if (signed.statement.kind === "RECEIPT" && countReceipt(turn, preparation, signed)) touched.push(preparation.id);
    if (signed.statement.kind === "REFUSAL") noteRefusal(turn, preparation, signed);
  }
  commitCompleted(turn, touched);
};

const countReceipt = (turn: Turn, preparation: Preparation, signed: SignedStatement): boolean => {
  const { id, proposal, receipts } = preparation;
  if (receipts.has(signerOf(signed))) return false;
  if (!isReceiptFor(turn.context.crypto, turn.membership, id, proposal, signed)) return false;
  turn.noteSeen(signed.header);
  turn.edit("preparations").set(id, { ...preparation, receipts: new Map(receipts).set(signerOf(signed), signed) });
  return true;
};

const noteRefusal = (turn: Turn, preparation: Preparation, signed: SignedStatement): void => {
  const { id, proposal, refusal } = preparation;
  const { statement, header } = signed;
  if (refusal !== undefined || statement.seq !== proposal.seq) return;
  if (header.incarnation !== turn.recordedIncarnation(header.peerId)) return;
  if (!isAuthentic(turn.context.crypto, turn.membership, signed)) return;
  turn.noteSeen(header);
  turn.edit("preparations").set(id, { ...preparation, refusal: signed });
  turn.edit("collecting").delete(id);
  const round = turn.state.rounds.get(id);
  if (round === undefined) return;
  turn.edit("rounds").delete(id);
  const refused = refusalRejection(header.peerId, statement.detail, proposal.effects.ref);
  for (const caller of round.callers) answerRejected(turn, caller, refused);
};

const isRejectionCode = (code: string): code is RejectionCode => rejectionCodes.some((each) => each === code);

/** The refusing check's own code; where it has none, the member and the check are named. */
const refusalRejection = (peerId: PeerId, check: string, ref: string) =>
  isRejectionCode(check)
    ? rejection(
        check,
        `Peer ${peerId} refused the registration.`,
        "See the code; the preparation stays locked until it is settled.",
        {
          members: [{ peerId, reason: check }],
          ref,
        },
      )
    : rejection(
        "APPROVER_REPLICATION_UNAVAILABLE",
        `Peer ${peerId} refused the registration at its check ${check}.`,
        "Repeat the request later; the preparation stays locked until it is settled.",
        { members: [{ peerId, reason: check }], ref },
      );

/** Asks about what has been undecided for a while; the writer first sends again what it still has evidence for. */
export const onResolveTimer = (turn: Turn): void => {
  if (ownFault(turn) !== undefined || turn.state.preparations.size === 0) return;
  const due = [...turn.state.preparations.values()].filter((each) => turn.now - each.preparedAt >= RESOLVE_MILLIS);
  for (const { id, preparedAt, proposal } of due) {
    if (turn.now - preparedAt >= STALLED_MILLIS && turn.state.collecting.has(id)) turn.edit("collecting").delete(id);
    // Nobody signs a receipt after the deadline, so the evidence has done its work; the token leaves memory.
    if (turn.now > proposal.expiresAt && turn.state.rounds.has(id)) turn.edit("rounds").delete(id);
  }
  const queries = due.filter((each) => !turn.state.rounds.has(each.id));
  if (turn.isWriter) for (const peerId of turn.others) prepareAgain(turn, peerId, due);
  for (let from = 0; from < queries.length; from += Limits.batchProposals) {
    const items = queries
      .slice(from, from + Limits.batchProposals)
      .map(({ proposal, writerReceipt }) => ({ proposal, receipt: writerReceipt }));
    turn.sendAll({ _tag: "SettleQuery", items, demandFinal: false, nonce: turn.context.entropy });
  }
  const youngest = Math.max(...[...turn.state.preparations.values()].map((each) => each.preparedAt));
  turn.arm("resolve", Math.min(Math.max((turn.now - youngest) / 2, RESOLVE_MILLIS), RESOLVE_MAX_MILLIS) | 0);
};

const prepareAgain = (turn: Turn, peerId: PeerId, due: ReadonlyArray<Preparation>): void => {
  const items: Array<PrepareItem> = [];
  let bytes = 0;
  for (const { id, proposal, writerReceipt, receipts, refusal } of due) {
    const round = turn.state.rounds.get(id);
    if (round === undefined || receipts.has(peerId) || refusal !== undefined) continue;
    bytes += round.evidence.call.rawBody.length;
    if (items.length === Limits.batchProposals || (items.length > 0 && bytes > Limits.batchEvidenceBytes)) break;
    items.push({ proposal, receipt: writerReceipt, evidence: round.evidence });
  }
  if (items.length > 0) turn.send(peerId, { _tag: "Prepare", items, stableSeq: stableSeq(turn) });
};

type AnswerItem = MessageOf<"SettleAnswer">["items"][number];

const answerFor = (turn: Turn, id: Digest, proposal: Proposal): AnswerItem => {
  const preparation = turn.state.preparations.get(id);
  if (preparation !== undefined) {
    const held = [
      ...preparation.receipts.values(),
      ...(preparation.refusal === undefined ? [] : [preparation.refusal]),
    ];
    return { proposalId: id, state: "PREPARED", held };
  }
  const slot = turn.context.view.get("slots", slotKey(proposal.epoch, proposal.seq));
  if (slot?.proposalId === id && slot.outcome === "APPLIED") return { proposalId: id, state: "APPLIED", held: [] };
  const refusal = turn.context.view.get("refusals", id)?.refusal;
  return refusal === undefined
    ? { proposalId: id, state: "UNKNOWN", held: [] }
    : { proposalId: id, state: "REFUSED", held: [refusal] };
};

/** Answers with everything held; what is applied here is delivered at once. Writes nothing. */
export const onSettleQuery = (turn: Turn, from: PeerId, message: MessageOf<"SettleQuery">): void => {
  if (ownFault(turn) !== undefined) return;
  const { crypto, view } = turn.context;
  const items = message.items.map(({ proposal, receipt }): AnswerItem => {
    const id = proposalId(crypto, proposal);
    const isWriters =
      signerOf(receipt) === turn.membership.writer && isReceiptFor(crypto, turn.membership, id, proposal, receipt);
    return isWriters ? answerFor(turn, id, proposal) : { proposalId: id, state: "UNKNOWN", held: [] };
  });
  const answer: Message = { _tag: "SettleAnswer", nonce: message.nonce, items };
  turn.send(from, answer);
  const certificates = items.flatMap((item) =>
    item.state === "APPLIED" ? (view.get("certificates", item.proposalId) ?? []) : [],
  );
  if (certificates.length > 0)
    turn.send(from, { _tag: "Commit", certificates, stableSeq: turn.isWriter ? stableSeq(turn) : 0 });
};

export const onSettleAnswer = (turn: Turn, { items }: MessageOf<"SettleAnswer">): void =>
  onVotes(
    turn,
    items.flatMap((item) => item.held),
  );
