/** Who voted how on a proposal, in words: the end of a proposal follows from its votes, so facts about it name them. */
import type { Digest } from "../../core/base/Digest.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import { type Ghost, maskOf, type PeerMask, type ProposalFacts, slotsOf } from "./Ghost.ts";

/** A statement: what it is, why, and of which proposal. */
export const voteText = ({ statement: { kind, detail, proposalId } }: SignedStatement): string =>
  `${kind}${detail === "" ? "" : ` (${detail})`} of ${proposalId}`;

const wordsAt = (ghost: Ghost, facts: ProposalFacts, slot: number): ReadonlyArray<string> => {
  const isIn = (peers: PeerMask): boolean => (peers & maskOf(slot)) !== 0;
  const { receipts, refusals, pledges, applied, aborted, forgotten, endVotes } = facts;
  const incarnations = [...(endVotes.get(slot) ?? [])];
  return [
    ...(isIn(receipts) ? ["RECEIPT"] : []),
    ...(isIn(refusals) ? ["REFUSAL"] : []),
    ...(isIn(pledges) ? ["PLEDGE"] : []),
    ...(incarnations.length > 0 ? [`for its end in incarnation ${incarnations.join(", ")}`] : []),
    ...(isIn(applied) ? ["applied"] : []),
    ...(isIn(aborted) ? ["aborted"] : []),
    ...(isIn(forgotten) ? ["forgotten on an older disk"] : []),
    ...(ghost.isLying(slot) ? ["it lies"] : []),
  ];
};

/** What is durable about a proposal at each peer, such as "peer 1 RECEIPT, applied; peer 2 nothing". */
export const votesOn = (ghost: Ghost, id: Digest): string => {
  const facts = ghost.proposals.get(id);
  if (facts === undefined) return "nobody voted on it";
  return slotsOf(ghost.everyone)
    .map((slot) => `peer ${slot} ${wordsAt(ghost, facts, slot).join(", ") || "nothing"}`)
    .join("; ");
};

/** The votes on the last proposal that bears the name of a caller's request; one that came under another's bears none. */
export const votesOnRequest = (ghost: Ghost, entryPeer: number, requestId: string): string => {
  const last = [...ghost.proposals.values()].findLast(
    ({ proposal }) => proposal.entryPeer === entryPeer && proposal.requestId === requestId,
  );
  return last === undefined ? "no proposal bears its name" : `its proposal ${last.id}: ${votesOn(ghost, last.id)}`;
};
