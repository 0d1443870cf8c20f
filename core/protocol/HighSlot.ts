/** How far the writer has used its slots, and what shows it: a number alone shows nothing (protocol.md 3.4). */
import { type RowView, slotKey } from "./Tables.ts";
import { type SignedStatement, signerOf } from "./Statement.ts";
import type { Membership } from "./Topology.ts";

/** The writer's receipt for the highest slot is in whatever row the slot's proposal has come to. */
export const highProofOf = (
  view: RowView,
  membership: Membership | undefined,
  highSeq: number,
): SignedStatement | undefined => {
  if (membership === undefined || highSeq === 0) return undefined;
  const slot = view.get("slots", slotKey(membership.topology.epoch, highSeq));
  if (slot === undefined) return undefined;
  const certified = view
    .get("certificates", slot.proposalId)
    ?.receipts.find((each) => signerOf(each) === membership.writer);
  return (
    certified ??
    slot.writerReceipt ??
    view.get("preparations", slot.proposalId)?.writerReceipt ??
    view.get("refusals", slot.proposalId)?.writerReceipt
  );
};
