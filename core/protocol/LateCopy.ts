/**
 * A request that may be a late copy of one that was refused. What a writer turned away it remembers until its process
 * ends, and no more than so much of it; for requests that it may have forgotten it starts nothing (decision 0009).
 */
import { Limits } from "../Limits.ts";
import type { Rejection } from "../Rejection.ts";
import type { Turn } from "../Turn.ts";
import type { Forward } from "./Forward.ts";
import type { PeerId } from "./Topology.ts";
import { unavailable } from "./Unavailable.ts";

/** When a request came in, by the clock of the peer it entered through. */
type Arrival = Pick<Forward, "entryPeer" | "receivedAt">;

/**
 * Takes down the clock of a member that shows itself to this process for the first time. What came in before, and was
 * judged by an earlier process, was at most so far ahead of this peer's own clock as {@link Limits.proposalMillis}:
 * a clock that was wrong beyond that, and is put right, does not hold up its peer's requests for as long.
 *
 * @param clock Unix milliseconds, as the member itself says
 */
export const noteFirstClock = (turn: Turn, from: PeerId, clock: number): void => {
  if (turn.state.forgottenUntil.has(from)) return;
  turn.edit("forgottenUntil").set(from, Math.min(clock, turn.now + Limits.proposalMillis));
};

/** The refusal of a request that came in then is remembered no longer. */
export const noteForgotten = (turn: Turn, { entryPeer, receivedAt }: Arrival): void => {
  const until = turn.state.forgottenUntil.get(entryPeer);
  // Of whom this process has not heard yet, everything may have been refused.
  if (until !== undefined && until < receivedAt) turn.edit("forgottenUntil").set(entryPeer, receivedAt);
};

/**
 * Whether a forwarded request that comes now may be a late copy of one whose refusal this process does not remember, as
 * its entry peer sees it: by that peer's own clock it came in before that peer first answered this process, or before one that
 * was forgotten since. A clock that was set back stands still until it has caught up, so what came in at the same time
 * may be older too.
 */
export const isFromBefore = ({ self, state }: Turn, { entryPeer, receivedAt }: Arrival): boolean =>
  entryPeer !== self && receivedAt <= (state.forgottenUntil.get(entryPeer) ?? Number.POSITIVE_INFINITY);

/** The answer to it. */
export const forgotten = ({ self }: Turn, ref: string | undefined): Rejection =>
  unavailable([{ peerId: self, reason: "it no longer knows what became of requests as old as this one" }], ref);
