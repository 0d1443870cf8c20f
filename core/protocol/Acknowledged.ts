/** Whether every member has said the same. */
import type { Digest } from "../base/Digest.ts";
import { isAuthentic, type SignedStatement, signerOf, type Statement } from "./Statement.ts";
import type { Turn } from "./Turn.ts";

/** Whether there is, in member order, one such statement by every member about turn, made in the life on record. */
export const isAcknowledgedByAll = (
  turn: Turn,
  kind: Statement["kind"],
  about: Digest,
  acks: ReadonlyArray<SignedStatement>,
): boolean => {
  const { peerIds } = turn.membership;
  return (
    acks.length === peerIds.length &&
    peerIds.every((peerId, index) => {
      const ack = acks[index];
      return (
        ack !== undefined &&
        signerOf(ack) === peerId &&
        ack.statement.kind === kind &&
        ack.statement.proposalId === about &&
        ack.header.incarnation === turn.recordedIncarnation(peerId) &&
        isAuthentic(turn.context.crypto, turn.membership, ack)
      );
    })
  );
};
