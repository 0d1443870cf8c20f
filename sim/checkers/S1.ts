/** S1: no honest peer has both a RECEIPT and a REFUSAL of one proposal. */
import type { Digest } from "../../core/base/Digest.ts";
import type { Write } from "../../core/Tables.ts";
import type { Checker, Watched } from "./Checker.ts";
import { type Ghost, maskOf } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

export const S1 = (ghost: Ghost): Checker => {
  const assertOneVote = ({ slot, honest }: Watched, { op, key }: Write): void => {
    if (!honest || op === "remove") return;
    const facts = ghost.proposals.get(key as Digest);
    // A receipt is of the incarnation that the proposal pins; a refusal of a later incarnation does not contradict it.
    if (facts !== undefined && (facts.receipts & facts.barring & maskOf(slot)) !== 0)
      throw new Violation(
        "S1",
        `peer ${slot} has a durable RECEIPT of proposal ${key}`,
        `peer ${slot} has a durable REFUSAL of it too`,
      );
  };
  return { id: "S1", written: { preparations: assertOneVote, refusals: assertOneVote } };
};
