/**
 * What becomes of a preparation when the writer does not say. Members ask each
 * other; answers carry every statement they hold, so scattered receipts meet and
 * any prepared member that holds all of them commits, without the writer and
 * without a token that is still valid (protocol.md 4a step 1 and 2, 4b).
 */
import type { Digest } from "../Digest.ts";
import { Limits } from "../Limits.ts";
import type { Preparation } from "../PeerState.ts";
import { slotKey } from "../Tables.ts";
import type { Turn } from "../Turn.ts";
import { isReceiptFor } from "./Certificate.ts";
import { commitCompleted, stableSeq } from "./Delivery.ts";
import type { Message, MessageOf, PrepareItem } from "./Message.ts";
import { RESOLVE_MILLIS } from "./Preparations.ts";
import { type Proposal, proposalId } from "./Proposal.ts";
import { ownFault } from "./Readiness.ts";
import { signerOf } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";
import { onVotes } from "./Votes.ts";

const RESOLVE_MAX_MILLIS = 5_000;
/** A batch that is short of a receipt for this long no longer holds up the next one. */
const STALLED_MILLIS = 1_000;

/** When a preparation is asked about next: after 1 s, then each time its age has doubled, at last every 5 s. */
const dueAt = ({ preparedAt, askedAt }: Preparation): number =>
  askedAt + Math.min(Math.max(askedAt - preparedAt, RESOLVE_MILLIS), RESOLVE_MAX_MILLIS);

/** Asks about what has been undecided for a while; the writer first sends again what it still has evidence for. */
export const onResolveTimer = (turn: Turn): void => {
  if (ownFault(turn) !== undefined) return;
  // Taken first: what is committed below is for a moment in no list that holds its slot open.
  const stable = stableSeq(turn);
  // Two members hold all receipts as soon as the second has prepared; after a restart anybody may.
  commitCompleted(turn, turn.state.preparations.keys());
  const due = [...turn.state.preparations.values()].filter((each) => dueAt(each) <= turn.elapsed);
  for (const preparation of due) age(turn, preparation);
  if (turn.isWriter) for (const peerId of turn.others) prepareAgain(turn, peerId, due, stable);
  const queries = due.filter((each) => turn.state.rounds.get(each.id)?.evidence === undefined);
  for (let from = 0; from < queries.length; from += Limits.batchProposals) {
    const items = queries
      .slice(from, from + Limits.batchProposals)
      .map(({ proposal, writerReceipt }) => ({ proposal, receipt: writerReceipt }));
    turn.sendAll({ _tag: "SettleQuery", items, demandFinal: false, nonce: turn.context.entropy });
  }
  const open = [...turn.state.preparations.values()];
  if (open.length > 0) turn.arm("resolve", Math.max(1, Math.min(...open.map(dueAt)) - turn.elapsed));
};

/** What time does to an undecided preparation: nothing to its locks and its capacity. */
const age = (turn: Turn, preparation: Preparation): void => {
  const { id, preparedAt, proposal } = preparation;
  turn.edit("preparations").set(id, { ...preparation, askedAt: turn.elapsed });
  if (turn.elapsed - preparedAt >= STALLED_MILLIS && turn.state.collecting.has(id)) turn.edit("collecting").delete(id);
  const round = turn.state.rounds.get(id);
  // Nobody signs a receipt after the deadline, so the evidence has done its work; the token leaves memory.
  if (round !== undefined && turn.now > proposal.expiresAt)
    turn.edit("rounds").set(id, { ...round, evidence: undefined });
};

const prepareAgain = (turn: Turn, peerId: PeerId, due: ReadonlyArray<Preparation>, stable: number): void => {
  const items: Array<PrepareItem> = [];
  let bytes = 0;
  for (const { id, proposal, writerReceipt, receipts, refusal } of due) {
    const evidence = turn.state.rounds.get(id)?.evidence;
    if (evidence === undefined || receipts.has(peerId) || refusal !== undefined) continue;
    bytes += evidence.call.rawBody.length;
    if (items.length === Limits.batchProposals || (items.length > 0 && bytes > Limits.batchEvidenceBytes)) break;
    items.push({ proposal, receipt: writerReceipt, evidence });
  }
  if (items.length > 0) turn.send(peerId, { _tag: "Prepare", items, stableSeq: stable });
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
  if (slot?.proposalId === id && slot.outcome === "APPLIED")
    return { proposalId: id, state: "APPLIED", held: slot.ack === undefined ? [] : [slot.ack] };
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
