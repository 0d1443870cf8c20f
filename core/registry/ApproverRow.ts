/** The approver as it is stored, whatever made it: the same bytes on every peer. */
import type { Effects } from "../protocol/Proposal.ts";
import type { Rows } from "../Tables.ts";

const approvers = new WeakMap<Effects, Rows["approvers"]>();

/** The row that effects lead to. */
export const approverRow = (effects: Effects): Rows["approvers"] => {
  const known = approvers.get(effects);
  if (known !== undefined) return known;
  const row = {
    id: effects.id,
    ref: effects.ref,
    descriptor: effects.descriptor,
    keyIdentity: effects.keyIdentity,
    metadata: effects.metadata,
    revision: effects.newRevision,
    createdAt: effects.createdAt,
    updatedAt: effects.updatedAt,
  };
  approvers.set(effects, row);
  return row;
};
