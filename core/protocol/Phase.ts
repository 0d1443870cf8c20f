/**
 * How far a proposal has come at this peer, as one value. It is computed here and
 * nowhere else, and changes only as {@link mayFollow} says (Lifecycle.ts).
 */
import type { Digest } from "../base/Digest.ts";
import { InvariantViolation } from "../base/Invariant.ts";
import type { PeerId } from "./Topology.ts";
import type { Undecided } from "./Undecided.ts";

export const phases = [
  "absent",
  "prepared",
  "opposed",
  "pledged",
  "refused",
  "applied",
  "acknowledged",
  "confirmed",
  "aborting",
] as const;
export type Phase = (typeof phases)[number];

/** What each phase means, for the documentation. */
export const phaseMeanings: Readonly<Record<Phase, string>> = {
  absent: "nothing is under way: this peer has never heard of it, or its slot keeps the outcome for ever",
  prepared: "locks, slot and this peer's receipt are flushed together (reserved and prepared are one flush)",
  opposed: "another member's refusal is here: no certificate can exist unless that member contradicts itself",
  pledged: "this peer has given up its claim",
  refused: "this peer has refused it for good",
  applied: "its certificate is complete and it is applied, in one transaction; not acknowledged while joining",
  acknowledged: "this peer has said so, and delivers it until all have",
  confirmed: "all members have acknowledged it; its outbox row goes with the next transaction",
  aborting: "at the writer: aborted here, its locks held until all members have aborted it",
};

/** The phases that may follow each phase, and on what. Besides, a declared restore drops all that is not final. */
export const mayFollow: Readonly<Record<Phase, { readonly [P in Phase]?: string }>> = {
  absent: { prepared: "receipt", refused: "refusal" },
  prepared: { opposed: "a refusal by r", applied: "certificate" },
  opposed: { pledged: "pledge", applied: "certificate, and acknowledgement of a third member" },
  pledged: {
    applied: "certificate, and acknowledgement of a third member",
    aborting: "abort votes of all, at the writer",
    absent: "abort votes of all",
  },
  refused: { absent: "abort votes of all" },
  applied: { acknowledged: "acknowledgement" },
  acknowledged: { confirmed: "acknowledgements of all" },
  confirmed: { absent: "any transaction" },
  aborting: { absent: "aborted at all" },
};

/** The peer, and a proposal and its slot. */
export interface Asked {
  readonly undecided: Undecided;
  readonly self: PeerId;
  readonly id: Digest;
  readonly seq: number;
}

export const phaseOf = ({ undecided, self, id, seq }: Asked): Phase => {
  const preparation = undecided.preparations.get(id);
  if (preparation !== undefined)
    return preparation.pledge !== undefined ? "pledged" : preparation.refusal !== undefined ? "opposed" : "prepared";
  const delivery = undecided.outbox.get(seq);
  if (delivery?.id === id)
    return delivery.isPrunable ? "confirmed" : delivery.acks.has(self) ? "acknowledged" : "applied";
  if (undecided.refused.has(id)) return "refused";
  return undecided.aborting.has(id) ? "aborting" : "absent";
};

export const assertFollows = (before: Phase, after: Phase, id: Digest): void => {
  if (mayFollow[before][after] === undefined)
    throw new InvariantViolation("S39", `proposal ${id} was ${before} and became ${after}`);
};
