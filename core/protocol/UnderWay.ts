/** What a lock is held for. */
import type { PeerState } from "./PeerState.ts";
import type { Proposal } from "./Proposal.ts";

/** The change that is under way under a lock: prepared, or applied and not acknowledged by all. */
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

/**
 * The proposal that holds a lock: one under way, or at the writer one that is aborted and not yet by all, of which
 * nothing comes any more. Undefined also in the step that takes the lock, until the receipt is signed.
 */
export const holderOf = (state: PeerState, lock: string): Proposal | undefined => {
  const { locks, aborting } = state.undecided;
  const holder = locks.get(lock);
  return underWay(state, lock) ?? (holder && aborting.get(holder)?.proposal);
};
