/**
 * S21: what a peer has on record of another's incarnation and batches never goes back, but by a restore of its own.
 * Votes and acknowledgements count at the incarnation on record, receipts at the one their proposal pins, and a
 * restored peer signs nothing before every other one has its new incarnation on record. Whoever is asked about a proposal
 * that pins an earlier one, and does not know it, refuses it: nobody can sign a receipt for it any more.
 */
import type { Digest } from "../../core/base/Digest.ts";
import type { SettleItem } from "../../core/protocol/Message.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { Proposal } from "../../core/protocol/Proposal.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import type { Rows } from "../../core/Tables.ts";
import { FIRST_INCARNATION, isAbortedAt } from "./Ends.ts";
import type { Checker, Watched } from "./Checker.ts";
import { type Ghost, slotsOf } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

const batchNoOf = ({ newest }: Rows["seen"]): number => newest?.header.batchNo ?? 0;

/** Whether a step has left unchanged everything that counts statements of others. */
const isAsBefore = (before: PeerState, now: PeerState): boolean =>
  before.signed.seen === now.signed.seen &&
  before.undecided.preparations === now.undecided.preparations &&
  before.undecided.refused === now.undecided.refused &&
  before.undecided.aborting === now.undecided.aborting &&
  before.undecided.outbox === now.undecided.outbox;

/** The statements for or against a proposal that count only at the incarnation on record. */
const counted = (state: PeerState): ReadonlyArray<SignedStatement> => [
  ...[...state.undecided.preparations.values()].flatMap(({ votes }) => [...votes.values()]),
  ...[...state.undecided.refused.values()].flatMap(({ votes }) => [...votes.values()]),
  ...[...state.undecided.aborting.values()].flatMap(({ acks }) => [...acks.values()]),
  ...[...state.undecided.outbox.values()].flatMap(({ acks, isPrunable }) => (isPrunable ? [] : [...acks.values()])),
];

/** A receipt counted for a proposal that pins another incarnation of its signer, if there is one. */
const strayReceipt = ({
  undecided: { preparations },
  cluster: { membership },
}: PeerState): SignedStatement | undefined => {
  for (const { proposal, receipts } of preparations.values())
    for (const [peerId, receipt] of receipts)
      if (receipt.header.incarnation !== proposal.incarnations[membership?.peerIds.indexOf(peerId) ?? -1])
        return receipt;
  return undefined;
};

const incarnationOf = (state: PeerState, peerId: number): number =>
  peerId === state.cluster.peer?.peerId
    ? state.signed.chain.incarnation
    : (state.signed.seen.get(peerId)?.incarnation ?? FIRST_INCARNATION);

/** Those of the service: refusals kept, aborts at once, and how far above the last decided slot a peer votes. */
const OF_SERVICE = { refusals: 4_096, aborts: 4_096, slotWindow: 256 };
/** One abort counts for so long. */
const ABORT_MILLIS = 1_000;

/** Whether a peer answers for itself, as a member like any other; until its promotion is done it takes no question. */
const isActive = ({ cluster, fitness, rejoining }: PeerState): boolean =>
  cluster.promotion.own?.stage !== "DECIDED" &&
  fitness.unsealed &&
  fitness.integrityFault === undefined &&
  fitness.quarantine === undefined &&
  rejoining.recovery === undefined &&
  rejoining.unproven.size === 0;

const isOver = (state: PeerState, { incarnations }: Proposal): boolean =>
  state.cluster.membership?.peerIds.some((peerId, at) => (incarnations[at] ?? 0) < incarnationOf(state, peerId)) ===
  true;

/** What has come of a proposal at a peer, if it knows that there is one. */
const isKnownAt = ({ store }: Watched, { undecided }: PeerState, id: Digest, proposal: Proposal): boolean =>
  undecided.preparations.has(id) ||
  undecided.refused.has(id) ||
  isAbortedAt(store, id, proposal) ||
  store.get("certificates", id) !== undefined;

/** Proposals that a process has been asked about and has to refuse. */
interface Asked {
  readonly process: number;
  readonly from: number;
  readonly proposals: ReadonlyMap<Digest, Proposal>;
}

export const S21 = (ghost: Ghost): Checker => {
  /** By recorder, by the peer on record. */
  const known = new Map<number, Map<number, Rows["seen"]>>();
  /** By recorder, by the peer on record: its highest incarnation ever, where that is not the first. */
  const incarnations = new Map<number, Map<number, number>>();
  const last: Array<PeerState | undefined> = [];

  const recordedIncarnation = (slot: number, peerId: number): number =>
    incarnations.get(slot)?.get(peerId) ?? FIRST_INCARNATION;

  const recordIncarnation = (slot: number, peerId: number, incarnation: number): void => {
    if (incarnation <= recordedIncarnation(slot, peerId)) return;
    const records = incarnations.get(slot) ?? new Map<number, number>();
    incarnations.set(slot, records.set(peerId, incarnation));
  };

  const recordsOf = (slot: number): Map<number, Rows["seen"]> => {
    const records = known.get(slot);
    if (records !== undefined) return records;
    const fresh = new Map<number, Rows["seen"]>();
    known.set(slot, fresh);
    return fresh;
  };

  const record = ({ slot, honest }: Watched, row: Rows["seen"]): void => {
    const { peerId, incarnation } = row;
    recordIncarnation(slot, peerId, incarnation);
    if (!honest) return;
    const batchNo = batchNoOf(row);
    const records = recordsOf(slot);
    const before = records.get(peerId);
    const isLess =
      before !== undefined &&
      (incarnation < before.incarnation || (incarnation === before.incarnation && batchNo < batchNoOf(before)));
    if (isLess)
      throw new Violation(
        "S21",
        `peer ${slot} had peer ${peerId} on record at ${before.incarnation}.${batchNoOf(before)}`,
        `it now records ${incarnation}.${batchNo}`,
      );
    records.set(peerId, row);
  };

  const assertRecorded = ({ slot }: Watched, { incarnation, batchNo }: Rows["batches"]["header"]): void => {
    if (incarnation === FIRST_INCARNATION || ghost.isLying(slot)) return;
    for (const other of slotsOf(ghost.everyone & ~ghost.lying)) {
      const recorded = recordedIncarnation(other, slot);
      if (other !== slot && recorded < incarnation)
        throw new Violation(
          "S21",
          `peer ${slot} signed batch ${batchNo} in its incarnation ${incarnation}`,
          `peer ${other} has only ever had its incarnation ${recorded} on record`,
        );
    }
  };

  const asked: Array<Asked | undefined> = [];

  /** Whether it is a proposal of its writer as that has prepared it, and this peer has a vote on it, and room for that. */
  const isToRefuse = (peer: Watched, before: PeerState, { proposal, receipt }: SettleItem, beside: number): boolean => {
    const { refusals, aborts, slotWindow } = { ...OF_SERVICE, ...ghost.capacities };
    const { refused, decidedSeq, abortsUntil } = before.undecided;
    const counting = Math.max(0, abortsUntil - peer.decidedAt / 1_000);
    const id = receipt.statement.proposalId;
    return (
      isOver(before, proposal) &&
      proposal.topologyDigest === before.cluster.membership?.digest &&
      refused.size + beside <= refusals &&
      counting + beside * ABORT_MILLIS <= aborts * ABORT_MILLIS &&
      proposal.seq <= decidedSeq + slotWindow &&
      receipt.header.peerId === proposal.writer &&
      ghost.isReceipt(id, receipt) &&
      JSON.stringify(proposal) === JSON.stringify(ghost.proposals.get(id)?.proposal) &&
      !isKnownAt(peer, before, id, proposal)
    );
  };

  /** Looked at once all that came of the question is durable. */
  const assertRefused = (peer: Watched): void => {
    const { slot, process, state, isIdle, isDamaged } = peer;
    const question = asked[slot];
    if (question === undefined || !isIdle) return;
    asked[slot] = undefined;
    if (question.process !== process || isDamaged || state === undefined || !isActive(state)) return;
    for (const [id, proposal] of question.proposals)
      if (!isKnownAt(peer, state, id, proposal))
        throw new Violation(
          "S21",
          `peer ${slot} has an incarnation on record after one that proposal ${id} pins`,
          `peer ${question.from} asked it about that, and it did not refuse it`,
        );
  };

  return {
    id: "S21",
    handled: (peer, from, message, before) => {
      if (message._tag !== "SettleQuery" || !peer.honest || peer.isDamaged || !isActive(before)) return;
      // Until a peer was restored no incarnation is over.
      if (ghost.restored === 0) return;
      const items = message.items.filter((item) => isToRefuse(peer, before, item, message.items.length));
      if (items.length === 0) return;
      const proposals = new Map(items.map(({ proposal, receipt }) => [receipt.statement.proposalId, proposal]));
      asked[peer.slot] = { process: peer.process, from, proposals };
      assertRefused(peer);
    },
    written: {
      seen: (peer, write) => {
        if (write.op !== "remove") record(peer, write.row);
      },
      restore: ({ slot }) => void known.delete(slot),
      batches: (peer, write) => {
        if (write.op !== "remove") assertRecorded(peer, write.row.header);
      },
    },
    stepped: (peer) => {
      assertRefused(peer);
      const { slot, honest, state } = peer;
      // Until a peer has had a second incarnation, or claims one, there is only one to count in.
      if (
        (ghost.restored | ghost.lying) === 0 ||
        !honest ||
        state === undefined ||
        state.fitness.integrityFault !== undefined
      )
        return;
      const before = last[slot];
      last[slot] = state;
      if (before !== undefined && isAsBefore(before, state)) return;
      const stray = strayReceipt(state);
      if (stray !== undefined)
        throw new Violation(
          "S21",
          `peer ${slot} counts a receipt of peer ${stray.header.peerId} for ${stray.statement.proposalId}`,
          `it was signed in incarnation ${stray.header.incarnation}, which that proposal does not pin`,
        );
      for (const { header, statement } of counted(state))
        if (header.incarnation !== incarnationOf(state, header.peerId))
          throw new Violation(
            "S21",
            `peer ${slot} has peer ${header.peerId} on record in its incarnation ${incarnationOf(state, header.peerId)}`,
            `it counts a ${statement.kind} of ${statement.proposalId} that was signed in incarnation ${header.incarnation}`,
          );
    },
  };
};
