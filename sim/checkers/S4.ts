/** S4: nothing is applied at one honest peer and aborted, or for ever impossible, at another. */
import type { Digest } from "../../core/Digest.ts";
import type { Checker } from "../Checker.ts";
import type { Ghost, PeerMask } from "../Ghost.ts";
import { Violation } from "../Violation.ts";

const firstOf = (peers: PeerMask): number => 31 - Math.clz32(peers & -peers);

export const S4 = (ghost: Ghost): Checker => {
  const aborted = new Map<string, number>();
  return {
    id: "S4",
    flushed: ({ slot, honest }, writes) => {
      if (!honest) return;
      for (const write of writes) {
        if (write.op === "remove") continue;
        if (write.table === "slots" && write.row.outcome === "ABORTED") aborted.set(write.row.proposalId, slot);
        const id =
          write.table === "slots"
            ? write.row.proposalId
            : write.table === "certificates" || write.table === "refusals"
              ? (write.key as Digest)
              : undefined;
        const facts = id === undefined ? undefined : ghost.proposals.get(id);
        if (facts === undefined || facts.applied === 0) continue;
        const abortedAt = aborted.get(facts.id);
        if (abortedAt !== undefined)
          throw new Violation(
            "S4",
            `peer ${firstOf(facts.applied)} applied proposal ${facts.id}`,
            `peer ${abortedAt} aborted it`,
          );
        // Who came back on an old disk may have refused and signed a receipt, and is found out by that.
        const refusals = facts.refusals & ~ghost.forgetful;
        if (refusals !== 0)
          throw new Violation(
            "S4",
            `peer ${firstOf(facts.applied)} applied proposal ${facts.id}`,
            `a member has a durable REFUSAL of it, so that no certificate can exist (members ${refusals.toString(2)})`,
          );
      }
    },
  };
};
