/** S7: a key has one owner id, over everything committed or reserved at any honest peer. */
import { onApprover } from "../models/Effects.ts";
import type { Digest } from "../../core/base/Digest.ts";
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { OneOwner } from "./OneOwner.ts";

export const S7 = (ghost: Ghost): Checker => {
  const keys = new OneOwner(ghost, "S7", "key", ({ keyIdentity }) => keyIdentity);
  return {
    id: "S7",
    booted: (peer) => keys.booted(peer),
    written: {
      restore: ({ slot }) => keys.restored(slot),
      preparations: ({ slot, honest }, write) => {
        // A pledge replaces a preparation's row and changes nothing about what is claimed.
        if (!honest || write.op === "replace") return;
        const proposal =
          write.op === "remove" ? ghost.proposals.get(write.key as Digest)?.proposal : write.row.proposal;
        if (proposal === undefined) return;
        const effects = onApprover(proposal);
        if (effects !== undefined) keys.reserve(slot, effects.keyIdentity, effects.id, write.op !== "remove");
      },
      keys: ({ slot, honest }, write) => {
        if (honest && write.op !== "remove") keys.commit(slot, write.key, write.row.id);
      },
      approvers: ({ slot, honest }, write) => {
        if (honest && write.op !== "remove") keys.commit(slot, write.row.keyIdentity, write.row.id);
      },
    },
  };
};
