/** What has become of a proposal at this peer, for ever: applied or aborted. */
import type { Digest } from "../Digest.ts";
import { type RowView, slotKey } from "../Tables.ts";
import type { Proposal } from "./Proposal.ts";
import type { SignedStatement } from "./Statement.ts";

export interface Decision {
  readonly outcome: "APPLIED" | "ABORTED";
  /** This peer's acknowledgement of it; absent where it was applied by a peer that has not joined yet. */
  readonly ack: SignedStatement | undefined;
}

/** The outcome recorded for a proposal; undefined while there is none. */
export const decisionOf = (
  view: RowView,
  id: Digest,
  { epoch, seq }: Pick<Proposal, "epoch" | "seq">,
): Decision | undefined => {
  const slot = view.get("slots", slotKey(epoch, seq));
  if (slot?.proposalId === id)
    return slot.outcome === "APPLIED" || slot.outcome === "ABORTED"
      ? { outcome: slot.outcome, ack: slot.ack }
      : undefined;
  const stray = view.get("strays", id);
  return stray && { outcome: "ABORTED", ack: stray.ack };
};
