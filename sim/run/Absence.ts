/**
 * Why a peer takes no part in the end (L5): the rule that should have let it, what it has heard, and what the others
 * could have given it.
 */
import { modeOf } from "../../core/protocol/Mode.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import { type Ghost, maskOf } from "../checkers/Ghost.ts";

/** A peer at the end, simulated or real. */
export interface Standing {
  readonly slot: number;
  /** Undefined while no process runs. */
  readonly state: PeerState | undefined;
}

/** A reason why a cluster is not at rest yet: the invariant it would break and the two facts. */
export type Unrest = readonly [id: string, first: string, second: string];

/** Digits of a root that tell it from others. */
const SHORT = 16;

export const rootText = ({ crypto }: Ghost, { registry }: PeerState): string =>
  `root ${crypto.setDigest(registry.set).slice(0, SHORT)} of ${registry.approvers} approvers`;

/** How a peer is and what it has, such as "peer 3 active, root 0123456789abcdef of 4 approvers, undecided 0". */
export const standingText = (ghost: Ghost, { slot, state }: Standing): string =>
  state === undefined
    ? `peer ${slot} does not run`
    : `peer ${slot} ${modeOf(state)}, ${rootText(ghost, state)}, undecided ${state.undecided.preparations.size}`;

const idsText = (ids: Iterable<number>): string =>
  [...ids].toSorted((one, other) => one - other).join(", ") || "nobody";

/** What a peer that is not founded has heard. */
const heardText = ({ cluster: { founding } }: PeerState): string => {
  const { cards, vote, signatures, faults } = founding;
  const own = vote === undefined ? "no vote of its own" : "its own vote";
  const refused = [...faults].map(([peerId, fault]) => `; against peer ${peerId}: ${fault}`);
  return `cards of ${idsText(cards.keys())}, ${own}, votes of ${idsText(signatures.keys())}${refused.join("")}`;
};

/** What was done to the disk of a peer that takes itself for outdated, and what is on it. */
const diskText = (ghost: Ghost, slot: number, { signed }: PeerState): string => {
  const { incarnation } = signed.chain;
  const last = ghost.lastBatch(slot, incarnation)?.batchNo ?? 0;
  const went = (ghost.forgetful & maskOf(slot)) === 0 ? "its disk never went back" : "its disk went back";
  const lies = ghost.isLying(slot) ? ", and it lies" : "";
  return `${went}${lies}; the last batch it made durable in incarnation ${incarnation} is ${last}`;
};

const HEALED = "everything was healed";

/** Why a peer takes no part among `peers`; undefined where it does. */
export const absenceOf = (
  ghost: Ghost,
  peers: ReadonlyArray<Standing>,
  { slot, state }: Standing,
): Unrest | undefined => {
  const others = (): string =>
    peers
      .filter((each) => each.slot !== slot)
      .map((each) => standingText(ghost, each))
      .join("; ");
  if (state === undefined || !state.fitness.unsealed)
    return [
      "L5",
      `${HEALED}, and operators brought every peer its shares`,
      `peer ${slot} ${state === undefined ? "does not run" : "is not unsealed"}`,
    ];
  if (state.cluster.membership === undefined)
    return [
      "L5",
      `${HEALED}, and a peer founds the cluster once it has the cards and the votes of all others`,
      `peer ${slot} has not founded it: it has ${heardText(state)} (${others()})`,
    ];
  const { integrityFault, quarantine } = state.fitness;
  if (integrityFault !== undefined)
    return ["L5", `${HEALED}, damaged disks too`, `peer ${slot} is out: ${integrityFault}`];
  if (quarantine !== undefined)
    return [
      "L5",
      `${HEALED}, and a peer is out only for a statement of its own that its disk has lost`,
      `peer ${slot} is out: ${quarantine} (${diskText(ghost, slot, state)})`,
    ];
  if (state.rejoining.recovery !== undefined)
    return [
      "L5",
      `${HEALED}, and a restored peer has the registry from any member that shows all of it, and votes once all are up`,
      `peer ${slot} is still recovering: ${state.rejoining.recovery.waitsFor} (${others()})`,
    ];
  return undefined;
};
