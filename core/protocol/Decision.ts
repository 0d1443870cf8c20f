/** The outcome of a proposal at this peer, for ever: applied or aborted. */
import type { Digest } from "../base/Digest.ts";
import { type RowView, slotKey } from "./Tables.ts";
import type { Proposal } from "./Proposal.ts";
import type { SignedStatement } from "./Statement.ts";

export interface Decision {
  readonly outcome: "APPLIED" | "ABORTED";
  readonly epoch: number;
  readonly seq: number;
  /** Its slot is, or was, bound to another proposal here. */
  readonly isStray: boolean;
  /**
   * This peer's acknowledgement; absent where the peer applied it before joining, or took it from another member after
   * a restore.
   */
  readonly ack: SignedStatement | undefined;
  readonly writerReceipt: SignedStatement | undefined;
}

/** The outcome recorded for a proposal; undefined while there is none. */
export const decisionOf = (
  view: RowView,
  id: Digest,
  { epoch, seq }: Pick<Proposal, "epoch" | "seq">,
): Decision | undefined => {
  const slot = view.get("slots", slotKey(epoch, seq));
  if (slot?.proposalId === id) {
    const { outcome, ack, writerReceipt } = slot;
    return outcome === "APPLIED" || outcome === "ABORTED"
      ? { outcome, epoch, seq, isStray: false, ack, writerReceipt }
      : undefined;
  }
  const stray = view.get("strays", id);
  return stray && { outcome: "ABORTED", epoch, seq, isStray: true, ack: stray.ack, writerReceipt: undefined };
};
