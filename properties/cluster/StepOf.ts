/** One whole step of a peer of a cluster, to be looked at and not carried out. */
import { fieldsOf, type StateFields } from "../../core/protocol/StateFields.ts";
import type { StepResult } from "../../core/Action.ts";
import { installedProviders } from "../../core/credential/SignatureProvider.ts";
import { takeStep } from "../../core/Peer.ts";
import type { Event } from "../../core/protocol/Event.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Cluster } from "./Cluster.ts";
import { stateOf } from "./Restoring.ts";
import { openStep } from "./OpenStep.ts";

/** The peer's reaction to an event now; `changed` is what is new in its state. */
export const stepOf = (
  cluster: Cluster,
  peerId: PeerId,
  event: Event,
): Omit<StepResult, "state"> & { readonly changed: Partial<StateFields> } => {
  const before = new Map<string, unknown>(Object.entries(fieldsOf(stateOf(cluster, peerId))));
  const { context } = openStep(cluster, peerId, cluster.now, cluster.now);
  const { state, ...outputs } = takeStep(stateOf(cluster, peerId), event, {
    ...context,
    providers: installedProviders,
  });
  const changed = Object.entries(fieldsOf(state)).filter(([field, value]) => before.get(field) !== value);
  return { ...outputs, changed: Object.fromEntries(changed) };
};
