/** Which members can read messages about keys: a message in a version that has none of them cannot be written. */
import type { Step } from "../../protocol/Step.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import { versionFor } from "../../protocol/Versions.ts";
import { KEYS_SINCE } from "./Tables.ts";

export const speaksOfKeys = ({ context, state }: Step, peerId: PeerId): boolean =>
  versionFor(context.commands.versions, state.cluster.spoken.get(peerId)) >= KEYS_SINCE;
