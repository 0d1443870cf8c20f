/** S7: a key has one owner id, over everything committed or reserved at any honest peer. */
import { onApprover } from "../models/Effects.ts";
import type { Digest } from "../../core/base/Digest.ts";
import type { Rows } from "../../core/Tables.ts";
import type { Oracle } from "../oracle/Oracle.ts";
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { OneOwner } from "./OneOwner.ts";

type Named = Pick<Rows["approvers"], "descriptor" | "keyIdentity">;

/** A key is what its callers know as one, whatever identity members compute for it. */
export const S7 = (ghost: Ghost, oracle: Pick<Oracle, "keyOf">): Checker => {
  const keys = new OneOwner(ghost, "S7", "key", ({ descriptor }) => oracle.keyOf(descriptor));
  /** By identity: the key in whose registration it was seen. */
  const seen = new Map<string, string>();
  const keyOf = ({ descriptor, keyIdentity }: Named): string => {
    const key = oracle.keyOf(descriptor);
    seen.set(keyIdentity, key);
    return key;
  };
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
        if (effects !== undefined) keys.reserve(slot, keyOf(effects), effects.id, write.op !== "remove");
      },
      keys: ({ slot, honest }, write, writes) => {
        if (!honest || write.op === "remove") return;
        for (const { table, ...other } of writes)
          if (table === "approvers" && "row" in other) keyOf(other.row as Rows["approvers"]);
        keys.commit(slot, seen.get(write.key) ?? write.key, write.row.id);
      },
      approvers: ({ slot, honest }, write) => {
        if (honest && write.op !== "remove") keys.commit(slot, keyOf(write.row), write.row.id);
      },
    },
  };
};
