/** Who this peer is, and the cluster it belongs to. */
import type { Digest, Signature } from "../base/Digest.ts";
import type { GenesisCard } from "./GenesisCard.ts";
import { noPromotion, type Promotion } from "./PromotionState.ts";
import type { Rows } from "./Tables.ts";
import type { Membership, PeerId } from "./Topology.ts";
import type { Versions } from "./Versions.ts";

/** Before a topology is pinned: the cards of other peers, and the signatures of those that signed the same topology. */
export interface Founding {
  readonly cards: ReadonlyMap<PeerId, GenesisCard>;
  readonly vote: (Rows["genesis"] & { readonly digest: Digest }) | undefined;
  readonly signatures: ReadonlyMap<PeerId, Signature>;
  /** Refusals by name, for the operator. */
  readonly faults: ReadonlyMap<PeerId, string>;
}

export interface ClusterState {
  readonly peer: Rows["peer"] | undefined;
  readonly membership: Membership | undefined;
  readonly pinned: Rows["topology"] | undefined;
  readonly founding: Founding;
  readonly promotion: Promotion;
  /** The versions that each other peer has said it speaks, since this process began. */
  readonly spoken: ReadonlyMap<PeerId, Versions>;
}

export const noCluster = (): ClusterState => ({
  peer: undefined,
  membership: undefined,
  pinned: undefined,
  founding: { cards: new Map(), vote: undefined, signatures: new Map(), faults: new Map() },
  promotion: noPromotion(),
  spoken: new Map(),
});
