/**
 * A receipt from every member: the authority to commit, for ever. It is verified
 * by what its signers said and when they said it, never by the verifier's own
 * clock (protocol.md 3.5, S3, S18).
 */
import { list, record, type TypeOf } from "../codec/Codec.ts";
import type { Crypto } from "../crypto/Crypto.ts";
import type { Digest } from "../base/Digest.ts";
import { Limits } from "../base/Limits.ts";
import { type Proposal, proposalCodec } from "./Proposal.ts";
import { isAuthentic, type SignedStatement, signedStatementCodec, signerOf } from "./Statement.ts";
import type { Membership, PeerId } from "./Topology.ts";

export const certificateCodec = record({
  proposal: proposalCodec,
  /** One receipt of every member, in member order. */
  receipts: list(signedStatementCodec, Limits.members),
});
export type Certificate = TypeOf<typeof certificateCodec>;

/**
 * Whether a statement is a receipt that counts for a proposal: authentic, about
 * this proposal and slot, at the incarnation the proposal pins, signed in time.
 */
export const isReceiptFor = (
  crypto: Crypto,
  membership: Membership,
  id: Digest,
  proposal: Proposal,
  signed: SignedStatement,
): boolean => {
  const { statement, header } = signed;
  const position = membership.peerIds.indexOf(signerOf(signed));
  return (
    statement.kind === "RECEIPT" &&
    statement.proposalId === id &&
    statement.seq === proposal.seq &&
    header.incarnation === proposal.incarnations[position] &&
    header.signedAt <= proposal.expiresAt &&
    isAuthentic(crypto, membership, signed)
  );
};

/** Statements by member, as a list in member order. */
export const statementsInOrder = (
  { peerIds }: Membership,
  statements: ReadonlyMap<PeerId, SignedStatement>,
): ReadonlyArray<SignedStatement> => {
  const inOrder: Array<SignedStatement> = [];
  for (const peerId of peerIds) {
    const own = statements.get(peerId);
    if (own !== undefined) inOrder.push(own);
  }
  return inOrder;
};

/** The certificate that a set of receipts makes, or undefined while a member's is missing. */
export const assemble = (
  membership: Membership,
  proposal: Proposal,
  receipts: ReadonlyMap<PeerId, SignedStatement>,
): Certificate | undefined => {
  const inOrder = statementsInOrder(membership, receipts);
  return inOrder.length === membership.peerIds.length ? { proposal, receipts: inOrder } : undefined;
};

/** Whether every member's receipt is there once, and counts. */
export const isComplete = (
  crypto: Crypto,
  membership: Membership,
  id: Digest,
  { proposal, receipts }: Certificate,
): boolean =>
  proposal.topologyDigest === membership.digest &&
  proposal.seq >= membership.topology.firstSlot &&
  receipts.length === membership.peerIds.length &&
  membership.peerIds.every((peerId, index) => {
    const receipt = receipts[index];
    return (
      receipt !== undefined && signerOf(receipt) === peerId && isReceiptFor(crypto, membership, id, proposal, receipt)
    );
  });
