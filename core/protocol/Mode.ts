/**
 * What a peer is doing, as one value. It is computed from the state here and nowhere else, and changes in a step only
 * as {@link mayBecome} says. ModeTable.ts says what is handled in which mode.
 */
import { InvariantViolation } from "../base/Invariant.ts";
import type { Slices } from "./PeerState.ts";

export const modes = [
  "blank",
  "sealed",
  "verifying",
  "founding",
  "damaged",
  "quarantined",
  "announcing",
  "recovering",
  "joining",
  "active",
  "promoting",
] as const;
export type Mode = (typeof modes)[number];

export const modeOf = ({ cluster, fitness, rejoining }: Pick<Slices, "cluster" | "fitness" | "rejoining">): Mode => {
  if (cluster.peer === undefined) return "blank";
  if (!fitness.unsealed) return fitness.verifying ? "verifying" : "sealed";
  if (fitness.integrityFault !== undefined) return "damaged";
  if (cluster.membership === undefined) return "founding";
  if (fitness.quarantine !== undefined) return "quarantined";
  if (rejoining.recovery !== undefined) return rejoining.unproven.size > 0 ? "announcing" : "recovering";
  if (cluster.promotion.own?.stage === "DECIDED") return "promoting";
  return rejoining.unproven.size > 0 ? "joining" : "active";
};

/** What each mode means, for the documentation. */
export const meanings: Readonly<Record<Mode, string>> = {
  blank: "not initialized",
  sealed: "its keys are not in memory",
  verifying: "its keys are in memory, and not in use before what it rests on is verified",
  founding: "unsealed, and no topology is pinned yet",
  damaged: "unsealed, and a stored row does not hold",
  quarantined: "it knows that it ran from an old disk",
  announcing: "declared restored, and not every member has its new incarnation on record",
  recovering: "every member has it on record, and it takes the registry from them",
  joining: "not every member has shown this process that its memory is whole",
  active: "a member like any other",
  promoting: "not every member has its registry yet",
};

/** The modes that one step may lead to, besides the same one. No key is used before rows are verified. */
export const mayBecome: Readonly<Record<Mode, ReadonlySet<Mode>>> = {
  blank: new Set(["sealed"]),
  sealed: new Set(["verifying"]),
  verifying: new Set([
    "sealed",
    "founding",
    "damaged",
    "quarantined",
    "announcing",
    "recovering",
    "joining",
    "active",
    "promoting",
  ]),
  founding: new Set(["sealed", "damaged", "announcing", "joining"]),
  damaged: new Set(["sealed"]),
  quarantined: new Set(["sealed", "damaged", "announcing"]),
  announcing: new Set(["sealed", "damaged", "recovering"]),
  recovering: new Set(["sealed", "damaged", "announcing", "active", "promoting"]),
  joining: new Set(["sealed", "damaged", "quarantined", "announcing", "active"]),
  active: new Set(["sealed", "damaged", "quarantined", "announcing", "promoting"]),
  promoting: new Set(["sealed", "damaged", "quarantined", "announcing", "active"]),
};

export const assertTransition = (before: Mode, after: Mode): void => {
  if (before !== after && !mayBecome[before].has(after))
    throw new InvariantViolation("S38", `a peer that was ${before} became ${after} in one step`);
};

/** Whether it can read members' messages and answer them: its keys, its rows and its memory are whole. */
export const isPresent = (mode: Mode): boolean =>
  mode === "active" || mode === "joining" || mode === "recovering" || mode === "announcing" || mode === "promoting";
