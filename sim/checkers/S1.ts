/** S1: no honest peer has both a RECEIPT and a REFUSAL of one proposal. */
import type { Digest } from "../../core/Digest.ts";
import type { Write } from "../../core/Tables.ts";
import type { Checker, Watched } from "../Checker.ts";
import { type Ghost, maskOf } from "../Ghost.ts";
import { Violation } from "../Violation.ts";

export const S1 = (ghost: Ghost): Checker => {
  const assertOneVote = ({ slot, honest }: Watched, { op, key }: Write): void => {
    if (!honest || op === "remove") return;
    const facts = ghost.proposals.get(key as Digest);
    // A receipt of a life that is over is no contradiction to a refusal of the next one.
    const life = facts?.receiptOf.get(slot)?.header.incarnation;
    if (life !== undefined && facts?.endVotes.get(slot)?.has(life) !== true) return;
    if (facts !== undefined && (facts.receipts & facts.refusals & maskOf(slot)) !== 0)
      throw new Violation(
        "S1",
        `peer ${slot} has a durable RECEIPT of proposal ${key}`,
        `peer ${slot} has a durable REFUSAL of it too`,
      );
  };
  return { id: "S1", written: { preparations: assertOneVote, refusals: assertOneVote } };
};
