/** S4: nothing is applied at one honest peer and aborted, or for ever impossible, at another. */
import type { Digest } from "../../core/base/Digest.ts";
import type { Write } from "../../core/Tables.ts";
import type { Checker, Watched } from "./Checker.ts";
import { type Ghost, type PeerMask, slotsOf } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";
import { votesOn } from "./Votes.ts";

const firstOf = (peers: PeerMask): number => 32 - Math.clz32(peers & -peers);

export const S4 = (ghost: Ghost): Checker => {
  const aborted = new Map<string, number>();
  const assertOneEnd = (id: Digest): void => {
    const facts = ghost.proposals.get(id);
    if (facts === undefined || !ghost.isAtomic) return;
    const applied = facts.applied & ~ghost.lying & ~ghost.away;
    if (applied === 0) return;
    const abortedAt = aborted.get(id);
    if (abortedAt !== undefined)
      throw new Violation(
        "S4",
        `peer ${firstOf(applied)} applied proposal ${id} (${votesOn(ghost, id)})`,
        `peer ${abortedAt} aborted it, and a proposal has one end at all honest peers`,
      );
    // A peer that lies, or came back on an old disk, may have refused and signed a receipt, and is exposed by that.
    const refusals = facts.barring & ~ghost.forgetful & ~ghost.lying;
    if (refusals !== 0)
      throw new Violation(
        "S4",
        `peer ${firstOf(applied)} applied proposal ${id} (${votesOn(ghost, id)})`,
        `a member has a durable REFUSAL of it, so that no certificate can exist (members ${slotsOf(refusals).join(", ")})`,
      );
  };
  const written = ({ honest }: Watched, { op, key }: Write): void => {
    if (honest && op !== "remove") assertOneEnd(key as Digest);
  };
  return {
    id: "S4",
    written: {
      // A change that no disk knew to have ended may be applied after all (S26).
      restore: ({ slot }) => {
        if (ghost.unitedBy === slot) aborted.clear();
      },
      slots: ({ slot, honest }, write) => {
        if (!honest || write.op === "remove") return;
        const { outcome, proposalId } = write.row;
        if (outcome === "ABORTED") aborted.set(proposalId, slot);
        assertOneEnd(proposalId);
      },
      certificates: written,
      refusals: written,
    },
  };
};
