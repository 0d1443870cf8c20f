/** Why a peer takes no part, as a number that is compared. */
import type { PeerState } from "../../core/protocol/PeerState.ts";

/** The not-ready reasons of a state, a bit for each. */
export const hindrancesOf = ({
  fitness: { unsealed, integrityFault, quarantine },
  rejoining: { unproven, recovery },
  cluster,
}: PeerState): number => {
  const isBetween = cluster.membership === undefined || cluster.promotion.own?.stage === "DECIDED";
  const isOut = integrityFault !== undefined || quarantine !== undefined;
  const all = [!unsealed, unproven.size > 0, isOut, recovery !== undefined, isBetween];
  return all.reduce((bits, isHindered, index) => (isHindered ? bits | (1 << index) : bits), 0);
};
