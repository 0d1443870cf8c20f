/**
 * A request that may be a late copy. What a writer turned away it remembers until its process ends, so a later
 * process starts nothing for requests that are older than itself (decision 0009).
 */
import type { Rejection } from "../Rejection.ts";
import type { Turn } from "../Turn.ts";
import type { Forward } from "./Forward.ts";
import { unavailable } from "./Unavailable.ts";

/**
 * Whether a request is older than this process, as its entry peer sees it: by that peer's own clock it came in before
 * that peer first answered this process. Then it may be a late copy of one that an earlier process turned away. A clock
 * that was set back stands still until it has caught up, so what came in at the same time may be older too.
 */
export const isFromBefore = (
  { self, state }: Turn,
  { entryPeer, receivedAt }: Pick<Forward, "entryPeer" | "receivedAt">,
): boolean => entryPeer !== self && receivedAt <= (state.joinedAt.get(entryPeer) ?? Number.POSITIVE_INFINITY);

/** The answer to it. */
export const restarted = ({ self }: Turn, ref: string | undefined): Rejection =>
  unavailable([{ peerId: self, reason: "it was started again after the request came in" }], ref);
