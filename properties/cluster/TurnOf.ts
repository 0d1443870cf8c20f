/** A turn of one peer of a cluster without a driver around it, for tests of what steps are made of. */
import type { Digest } from "../../core/Digest.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { Turn } from "../../core/Turn.ts";
import { ceremony, type Cluster, crypto, NOW } from "./Cluster.ts";

/** A turn upon the state that a peer has now, signed with its key, with nothing on its disk; `now` in Unix milliseconds. */
export const turnOf = (cluster: Cluster, peerId: PeerId, now = NOW): Turn => {
  const state = cluster.peers.get(peerId)?.state;
  if (state === undefined) throw new Error(`there is no peer ${peerId}`);
  return new Turn(state, {
    now,
    elapsed: 0,
    entropy: "00".repeat(32) as Digest,
    crypto,
    signer: cluster.keys.get(peerId),
    view: { get: () => undefined, scan: () => [] },
    providers: new Map(),
    ceremony,
    settings: {
      configDigest: "11".repeat(32) as Digest,
      audience: "custody",
      issuer: undefined,
      peers: [2],
      bootstrapSecret: undefined,
      development: true,
      answerMillis: 10_000,
      relyingParty: undefined,
    },
  });
};
