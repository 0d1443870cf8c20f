/** A peer of a test cluster as the simulator's checkers see one. */
import { changed } from "./Changed.ts";
import type { StateFields } from "../../core/protocol/StateFields.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Watched } from "../../sim/checkers/Checker.ts";
import type { Cluster } from "./Cluster.ts";
import { stateOf } from "./Restoring.ts";

/**
 * An honest peer at rest whose disk is not looked at, except for what a test says of it.
 *
 * @param state the differences of its state from that of the cluster's
 */
export const watched = (
  cluster: Cluster,
  slot: PeerId,
  more: Partial<Omit<Watched, "slot" | "state">> = {},
  state: Partial<StateFields> = {},
): Watched => ({
  slot,
  honest: true,
  state: changed(stateOf(cluster, slot), state),
  store: { get: () => undefined, scan: () => [] },
  process: 1,
  lastReading: Number.POSITIVE_INFINITY,
  decidedAt: 0,
  isIdle: true,
  isDamaged: false,
  harm: undefined,
  isVerified: true,
  misjudgesTokens: false,
  settings: undefined,
  ...more,
});
