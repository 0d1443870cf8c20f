/** How a proposal ended at a peer, and where numbers begin, by the rows and the protocol's words alone. */
import type { RowView } from "../../core/Tables.ts";
import { slotKey } from "../../core/protocol/Tables.ts";
import type { Proposal } from "../../core/protocol/Proposal.ts";

/** Of peers, and of integrity keys. */
export const FIRST_INCARNATION = 1;
export const FIRST_INTEGRITY_VERSION = 1;

/** Whether a peer has on record that it gave a proposal up: in its slot, or beside it where that has another one. */
export const isAbortedAt = (view: RowView, id: string, { epoch, seq }: Pick<Proposal, "epoch" | "seq">): boolean => {
  const slot = view.get("slots", slotKey(epoch, seq));
  return slot?.proposalId === id ? slot.outcome === "ABORTED" : view.get("strays", id) !== undefined;
};
