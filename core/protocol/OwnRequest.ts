/**
 * A request that entered here, found again in what comes back: a replacement of
 * metadata is answered as done only to the caller whose request did it.
 */
import type { Mutation } from "../registry/Mutation.ts";
import type { Turn } from "../Turn.ts";
import { type Forward, requestLineOf } from "./Forward.ts";
import { isSameLine, type Proposal } from "./Proposal.ts";

/** Whether a proposal came from this request, or from one that entered here and is its like in every byte. */
export const isMadeBy = (
  turn: Turn,
  { call }: Forward,
  { kind, ref, baseRevision }: Mutation,
  proposal: Proposal,
): boolean => {
  const { effects, request } = proposal;
  if (proposal.kind !== kind || proposal.entryPeer !== turn.self) return false;
  if (effects.ref !== ref || effects.baseRevision !== baseRevision) return false;
  return isSameLine(requestLineOf(turn.context.crypto, call), request);
};

/**
 * Remembers that a replacement was applied which somebody waits for here. All members have applied it before the
 * writer looks at a second copy of the request, so whatever it then says of the revision, this peer knows why.
 */
export const noteApplied = (turn: Turn, proposal: Proposal): void => {
  if (proposal.kind !== "METADATA") return;
  for (const [requestId, awaited] of turn.state.awaited)
    if (awaited.request.kind === "METADATA" && isMadeBy(turn, awaited.forward, awaited.request, proposal))
      turn.edit("awaited").set(requestId, { ...awaited, isApplied: true });
};
