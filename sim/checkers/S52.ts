/** S52: the writer calls a slot stable only when every member has applied what was decided there, or holds its end. */
import type { Checker } from "./Checker.ts";
import type { Digest } from "../../core/base/Digest.ts";
import { type Ghost, maskOf, slotsOf } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

export const S52 = (ghost: Ghost): Checker => {
  /** Changes that some member may not have applied yet: their slots by proposal. */
  const open = new Map<Digest, number>();
  return {
    id: "S52",
    written: {
      certificates: (_peer, write) => {
        if (write.op === "insert") open.set(write.key as Digest, write.row.proposal.seq);
      },
    },
    sent: ({ slot, honest }, message) => {
      if (!honest || slot !== ghost.membership?.writer || (message._tag !== "Prepare" && message._tag !== "Commit"))
        return;
      // Members that lie, or came back with another disk, have no say in what the others may drop.
      const excused = ghost.lying | ghost.away | ghost.forgetful | ghost.restored;
      for (const [id, seq] of open) {
        const facts = ghost.proposals.get(id);
        const missing = facts === undefined ? 0 : ghost.votersOn(facts.proposal) & ~facts.applied;
        if (missing === 0 || facts?.applied === 0) open.delete(id);
        else if (seq <= message.stableSeq && (missing & ~excused) !== 0)
          throw new Violation(
            "S52",
            `peer ${slotsOf(missing & ~excused)[0]} has not applied the proposal of slot ${seq}, which peer ${slotsOf(facts?.applied ?? maskOf(slot))[0]} has`,
            `peer ${slot} sent a ${message._tag} that calls everything up to slot ${message.stableSeq} stable`,
          );
      }
    },
  };
};
