/**
 * What a promotion carries: who becomes the cluster of the next epoch, with which registry, at whose request. Its id is
 * the digest of all that, and part of the new topology, so every member that signs that topology has agreed to the
 * whole draft and to no other (contract 10.6, protocol.md 4g).
 */
import { bool, digest, list, publicKey, record, type TypeOf, uint } from "../codec/Codec.ts";
import { formsOf, kept } from "../codec/Versioned.ts";
import type { Crypto } from "../crypto/Crypto.ts";
import type { Digest } from "../base/Digest.ts";
import { Limits } from "../base/Limits.ts";
import {
  EPOCHS_SINCE,
  isPinnedByAll,
  type PeerId,
  type PinnedTopology,
  type Topology,
  topologyDigest,
} from "./Topology.ts";

const DRAFT_TAG = "CUSTODY_TDRAFT_V1";

export const promotedCodec = record({ peerId: uint, identityKey: publicKey });
/** A member of the next epoch: its id, and the identity key that operators know it by. */
export type Promoted = TypeOf<typeof promotedCodec>;

export const draftCodec = kept(
  formsOf(
    record({
      clusterId: digest,
      /** The mono instance that is promoted, and its topology. */
      source: uint,
      oldDigest: digest,
      epoch: uint,
      /** Ascending by peer id, the source among them. */
      members: list(promotedCodec, Limits.members),
      threshold: uint,
      development: bool,
      /** One above the last slot of the source. */
      firstSlot: uint,
      /** The registry that every member begins with. */
      root: digest,
      approvers: uint,
      /** Who asked for it. */
      principalDigest: digest,
      nonce: digest,
    }),
    EPOCHS_SINCE,
  ),
);
export type Draft = TypeOf<typeof draftCodec>;

export const transferIdOf = (crypto: Crypto, draft: Draft): Digest => crypto.digest(DRAFT_TAG, draftCodec, draft);

/** The topology that a draft makes once every member has signed it. */
export const topologyOf = (crypto: Crypto, draft: Draft): Topology => ({
  version: draft.version,
  clusterId: draft.clusterId,
  epoch: draft.epoch,
  members: draft.members.map((each, index) => ({ ...each, shareIndex: index + 1 })),
  threshold: draft.threshold,
  prevDigest: draft.oldDigest,
  development: draft.development,
  firstSlot: draft.firstSlot,
  transferId: transferIdOf(crypto, draft),
});

const isAscending = (peerIds: ReadonlyArray<PeerId>): boolean =>
  peerIds.every((peerId, index) => peerId > (peerIds[index - 1] ?? 0));

/** Whether the members and the threshold make a cluster: more than one, and more than one of them to sign. */
export const isCluster = ({ members, threshold }: Pick<Draft, "members" | "threshold">): boolean =>
  members.length > 1 &&
  threshold > 1 &&
  threshold <= members.length &&
  new Set(members.map(({ identityKey }) => identityKey)).size === members.length;

/** Whether a draft continues exactly this topology of a mono instance, which its only member signed, as a cluster. */
export const continues = (crypto: Crypto, draft: Draft, previous: PinnedTopology): boolean => {
  const { topology } = previous;
  const [only] = topology.members;
  return (
    // Before signatures: whoever shows one may have written down members without end.
    topology.members.length === 1 &&
    isPinnedByAll(crypto, previous) &&
    only?.peerId === draft.source &&
    topologyDigest(crypto, topology) === draft.oldDigest &&
    topology.clusterId === draft.clusterId &&
    topology.development === draft.development &&
    draft.epoch === topology.epoch + 1 &&
    draft.firstSlot >= topology.firstSlot &&
    isCluster(draft) &&
    isAscending(draft.members.map(({ peerId }) => peerId)) &&
    draft.members.some(({ peerId, identityKey }) => peerId === only.peerId && identityKey === only.identityKey)
  );
};

/** Whether every member of a draft has signed exactly the topology that it makes. */
export const isDecision = (crypto: Crypto, draft: Draft, pinned: PinnedTopology): boolean =>
  topologyDigest(crypto, pinned.topology) === topologyDigest(crypto, topologyOf(crypto, draft)) &&
  isPinnedByAll(crypto, pinned);
