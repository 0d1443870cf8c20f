/** Whether a change is under way under a lock: prepared, or applied and not acknowledged by all. */
import type { PeerState } from "./PeerState.ts";
import type { Proposal } from "./Proposal.ts";

export const underWay = (
  { undecided: { locks, preparations, outbox } }: PeerState,
  lock: string,
): Proposal | undefined => {
  const holder = locks.get(lock);
  if (holder === undefined) return undefined;
  const prepared = preparations.get(holder);
  if (prepared !== undefined) return prepared.proposal;
  for (const { id, proposal } of outbox.values()) if (id === holder) return proposal;
  return undefined;
};
