/** Ends of sessions between the members of a test cluster. */
import { Limits } from "../../core/base/Limits.ts";
import type { Entropy } from "../../core/base/Digest.ts";
import { bytes } from "../../core/codec/Codec.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { emptyState } from "../../core/protocol/PeerState.ts";
import { Session, type SessionPorts, type Side } from "../../runtime/transport/Session.ts";
import { type Cluster, crypto } from "./Cluster.ts";

export type Ports = SessionPorts<Uint8Array>;

const content = bytes(Limits.envelopeBytes);
let drawn = 0;

/** Fresh for each: no two are alike, and none is random. */
const entropy = (): Entropy => {
  drawn += 1;
  return drawn.toString(16).padStart(64, "7") as Entropy;
};

/** What the end of a session at this member works with. */
export const sessionPorts = (cluster: Cluster, peerId: PeerId): Ports => ({
  crypto,
  state: () => cluster.peers.get(peerId)?.state ?? emptyState(crypto),
  signer: () => cluster.keys.get(peerId),
  entropy,
  content,
});

/** Of a peer that is not initialized, and has no sessions. */
export const noSession = (side: Side): Session<Uint8Array> =>
  new Session(side, { crypto, state: () => emptyState(crypto), signer: () => undefined, entropy, content });
