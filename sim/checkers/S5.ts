/**
 * S5: what is aborted anywhere has a durable abort vote of every member, in the incarnation that is on record for it there,
 * and no honest peer ever applies it.
 */
import type { Digest } from "../../core/base/Digest.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import { numberKey } from "../../core/protocol/Tables.ts";
import { FIRST_INCARNATION } from "./Ends.ts";
import type { Checker, Watched } from "./Checker.ts";
import { type Ghost, slotsOf } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";
import { votesOn } from "./Votes.ts";

export const S5 = (ghost: Ghost): Checker => {
  /** Proposals that ended at a peer before: an acknowledgement made again later is no second end. */
  const ended = new Set<string>();

  const assertMayEnd = ({ slot, store }: Watched, id: Digest, ack: SignedStatement | undefined): void => {
    const facts = ghost.proposals.get(id);
    if (facts === undefined)
      throw new Violation("S5", `peer ${slot} aborted proposal ${id}`, "no peer ever prepared or refused it");
    const incarnationOf = (voter: number): number =>
      voter === slot
        ? (ack?.header.incarnation ?? FIRST_INCARNATION)
        : (store.get("seen", numberKey(voter))?.incarnation ?? FIRST_INCARNATION);
    // An acknowledgement of the abort is a vote for it; a pledge made in the same transaction is not seen beside it.
    // A liar may have sent a vote and not kept it.
    const silent = slotsOf(ghost.votersOn(facts.proposal) & ~ghost.lying).find(
      (voter) => facts.endVotes.get(voter)?.has(incarnationOf(voter)) !== true,
    );
    if (silent !== undefined)
      throw new Violation(
        "S5",
        `peer ${slot} aborted proposal ${id} (${votesOn(ghost, id)})`,
        `peer ${silent} never voted for its end in its incarnation ${incarnationOf(silent)}, and an abort needs the vote of every member`,
      );
    const [applier] = slotsOf(facts.applied & ~ghost.lying & ~ghost.away);
    if (applier !== undefined && ghost.isAtomic)
      throw new Violation(
        "S5",
        `peer ${slot} aborted proposal ${id} (${votesOn(ghost, id)})`,
        `peer ${applier} applied it, and what is aborted anywhere is applied nowhere`,
      );
  };

  const end = (peer: Watched, id: Digest, ack: SignedStatement | undefined): void => {
    const name = `${peer.slot} ${id}`;
    if (peer.honest && !ended.has(name)) assertMayEnd(peer, id, ack);
    ended.add(name);
  };

  return {
    id: "S5",
    written: {
      slots: (peer, write) => {
        if (write.op !== "remove" && write.row.outcome === "ABORTED") end(peer, write.row.proposalId, write.row.ack);
      },
      strays: (peer, write) => {
        if (write.op !== "remove") end(peer, write.key as Digest, write.row.ack);
      },
    },
  };
};
