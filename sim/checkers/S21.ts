/**
 * S21: what a peer has on record of another's incarnation and batches never goes back, but by a restore of its own.
 * Votes and acknowledgements count at the incarnation on record, receipts at the one their proposal pins, and a
 * restored peer signs nothing before every other one has its new incarnation on record.
 */
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import type { Rows } from "../../core/Tables.ts";
import { FIRST_INCARNATION } from "./Ends.ts";
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

  return {
    id: "S21",
    written: {
      seen: (peer, write) => {
        if (write.op !== "remove") record(peer, write.row);
      },
      restore: ({ slot }) => void known.delete(slot),
      batches: (peer, write) => {
        if (write.op !== "remove") assertRecorded(peer, write.row.header);
      },
    },
    stepped: ({ slot, honest, state }) => {
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
