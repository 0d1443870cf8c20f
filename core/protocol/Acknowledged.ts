/** Whether every member has made the same statement. */
import type { Digest } from "../base/Digest.ts";
import { isAuthentic, type SignedStatement, signerOf, type Statement } from "./Statement.ts";
import type { Step } from "./Step.ts";

/** Whether `acks` are one such statement on `about` by each member, in order, each of the incarnation on record. */
export const isAcknowledgedByAll = (
  step: Step,
  kind: Statement["kind"],
  about: Digest,
  acks: ReadonlyArray<SignedStatement>,
): boolean => {
  const { peerIds } = step.membership;
  return (
    acks.length === peerIds.length &&
    peerIds.every((peerId, index) => {
      const ack = acks[index];
      return (
        ack !== undefined &&
        signerOf(ack) === peerId &&
        ack.statement.kind === kind &&
        ack.statement.proposalId === about &&
        ack.header.incarnation === step.recordedIncarnation(peerId) &&
        isAuthentic(step.context.crypto, step.membership, ack)
      );
    })
  );
};
