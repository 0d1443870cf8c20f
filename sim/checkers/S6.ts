/**
 * S6: in one slot an honest peer signs a receipt for one proposal, and one proposal is applied anywhere. So a refusal
 * binds its slot too, where nothing else does.
 */
import type { Digest } from "../../core/base/Digest.ts";
import { SELF, slotKey } from "../../core/protocol/Tables.ts";
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

export const S6 = (ghost: Ghost): Checker => {
  const signed = Array.from({ length: ghost.total + 1 }, () => new Map<number, Digest>());
  const applied = new Map<number, Digest>();
  /** Binds a slot to a proposal; returns which other one it was bound to. */
  const bind = (slots: Map<number, Digest> | undefined, seq: number, id: Digest): Digest | undefined => {
    const known = slots?.get(seq);
    if (known === undefined) slots?.set(seq, id);
    return known === id ? undefined : known;
  };
  const contradiction = (what: string, seq: number, known: Digest, id: string): Violation =>
    new Violation("S6", `${what} proposal ${known} in slot ${seq}`, `${what} proposal ${id} in slot ${seq} too`);
  return {
    id: "S6",
    written: {
      // The peer is not bound by what its old incarnation signed.
      restore: ({ slot }) => {
        signed[slot]?.clear();
        // A slot whose proposal was on no member's disk is free.
        if (ghost.unitedBy === slot) applied.clear();
      },
      preparations: ({ slot, honest }, write) => {
        if (!honest || write.op === "remove") return;
        const { seq } = write.row.proposal;
        const other = bind(signed[slot], seq, write.key as Digest);
        if (other !== undefined) throw contradiction(`peer ${slot} signed a RECEIPT for`, seq, other, write.key);
      },
      refusals: ({ slot, honest, store }, write) => {
        // Whoever is being restored takes slots over with the registry.
        if (!honest || write.op !== "insert" || store.get("restore", SELF)?.recovering === true) return;
        const { epoch, seq } = write.row.proposal;
        if (store.get("slots", slotKey(epoch, seq)) === undefined)
          throw new Violation(
            "S6",
            `peer ${slot} signed a REFUSAL for proposal ${write.key} in slot ${seq}`,
            "it could sign for another proposal in that slot, which nothing binds",
          );
      },
      certificates: ({ honest }, write) => {
        if (!honest || write.op === "remove") return;
        const { seq } = write.row.proposal;
        const other = bind(applied, seq, write.key as Digest);
        if (other !== undefined) throw contradiction("some peer applied", seq, other, write.key);
      },
    },
  };
};
