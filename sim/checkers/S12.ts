/** S12: a stored approver never changes its descriptor or creation time, which are the same everywhere, and never vanishes. */
import type { Rows } from "../../core/Tables.ts";
import type { Checker } from "../Checker.ts";
import { type Ghost, maskOf } from "../Ghost.ts";
import { Violation } from "../Violation.ts";

const difference = (left: Rows["approvers"], right: Rows["approvers"]): string | undefined => {
  for (const field of ["id", "ref", "descriptor", "keyIdentity", "createdAt"] as const)
    if (left[field] !== right[field]) return field;
  return undefined;
};

export const S12 = (ghost: Ghost): Checker => ({
  id: "S12",
  written: {
    approvers: ({ slot, honest }, write) => {
      if (!honest) return;
      if (write.op === "remove")
        throw new Violation("S12", `approver ${write.key} was stored`, `peer ${slot} removed it`);
      const known = ghost.approvers.get(write.key)?.row;
      const differs = known && known !== write.row ? difference(known, write.row) : undefined;
      if (differs !== undefined)
        throw new Violation(
          "S12",
          `approver ${write.key} was stored first with another ${differs}`,
          `peer ${slot} stored it with its own`,
        );
    },
  },
  swept: (peers) => {
    for (const peer of peers) {
      if (!peer.honest || peer.isDamaged) continue;
      for (const [ref, { holders }] of ghost.approvers)
        if ((holders & maskOf(peer.slot)) !== 0 && peer.store.get("approvers", ref) === undefined)
          throw new Violation("S12", `peer ${peer.slot} made approver ${ref} durable`, "it is not there any more");
    }
  },
});
