/**
 * The members of a cluster. A topology is signed by all of them, pinned, and
 * never changes; a new epoch is a new topology. The writer is not elected: it is
 * the lowest peer id (contract 10.1, protocol.md 4c).
 *
 * Epochs form a chain: each topology names the one before and the slot it begins with. Slots go on across epochs, so a
 * slot belongs to one of them, and only what its members signed for it counts.
 */
import { bool, digest, list, nullable, publicKey, record, signature, type TypeOf, uint } from "../codec/Codec.ts";
import { formsOf, kept } from "../codec/Versioned.ts";
import type { Crypto } from "../crypto/Crypto.ts";
import type { Digest, PublicKey } from "../base/Digest.ts";
import { Limits } from "../base/Limits.ts";

/** A peer's number, from 1; unique and stable for the lifetime of the cluster. */
export type PeerId = number;

export const TOPOLOGY_TAG = "CUSTODY_TOPOLOGY_V1";

const member = record({ peerId: uint, identityKey: publicKey, shareIndex: uint });

/** The first slot of a cluster. */
export const FIRST_SLOT = 1;
/** The first version of topologies that may come after another one. */
export const EPOCHS_SINCE = 3;

const topologyFields = {
  clusterId: digest,
  epoch: uint,
  /** Ascending by peer id. */
  members: list(member, Limits.members),
  threshold: uint,
  /** The topology before this one; absent in epoch 1. */
  prevDigest: nullable(digest),
  /** Made by `custody dev`: its secrets lie in a folder, so it must never be taken for a real cluster. */
  development: bool,
};

export const topologyCodec = kept(
  formsOf(record(topologyFields)).since(
    EPOCHS_SINCE,
    record({
      ...topologyFields,
      /** The slot that this epoch begins with; those before belong to the epochs before. */
      firstSlot: uint,
      /** The promotion that this epoch came of (PromotionDraft.ts); absent in epoch 1. */
      transferId: nullable(digest),
    }),
    (older) => ({ ...older, firstSlot: FIRST_SLOT, transferId: undefined }),
  ),
);
export type Topology = TypeOf<typeof topologyCodec>;

/** A topology with the signatures of all members, in member order. */
export const pinnedCodec = record({ topology: topologyCodec, signatures: list(signature, Limits.members) });
export type PinnedTopology = TypeOf<typeof pinnedCodec>;

/** A pinned topology as one peer uses it. */
export interface Membership {
  readonly topology: Topology;
  readonly digest: Digest;
  readonly peerIds: ReadonlyArray<PeerId>;
  /** For each member all the others. */
  readonly othersOf: ReadonlyMap<PeerId, ReadonlyArray<PeerId>>;
  readonly writer: PeerId;
  readonly keys: ReadonlyMap<PeerId, PublicKey>;
  /** The epoch before this one. */
  readonly before: Membership | undefined;
}

export const topologyDigest = (crypto: Crypto, topology: Topology): Digest =>
  crypto.digest(TOPOLOGY_TAG, topologyCodec, topology);

/** A topology as peers use it, after the epoch before it. */
export const membershipOf = (crypto: Crypto, topology: Topology, before?: Membership): Membership => {
  const peerIds = topology.members.map((each) => each.peerId);
  return {
    topology,
    digest: topologyDigest(crypto, topology),
    peerIds,
    othersOf: new Map(peerIds.map((peerId) => [peerId, peerIds.filter((other) => other !== peerId)])),
    writer: Math.min(...peerIds),
    keys: new Map(topology.members.map((each) => [each.peerId, each.identityKey])),
    before,
  };
};

/** The epoch that a slot belongs to; undefined for a slot before the first one. */
export const epochOf = (newest: Membership | undefined, seq: number): Membership | undefined => {
  let epoch = newest;
  while (epoch !== undefined && seq < epoch.topology.firstSlot) epoch = epoch.before;
  return epoch;
};

/**
 * Who has to have signed what is said of a slot; undefined where it is said in the name of a topology that the slot does
 * not belong to: then it counts for nothing, whoever signed it.
 */
export const signersFor = (
  newest: Membership,
  { seq, topologyDigest: digest }: { readonly seq: number; readonly topologyDigest: Digest },
): Membership | undefined => {
  const epoch = epochOf(newest, seq);
  return epoch?.digest === digest ? epoch : undefined;
};

/** Whether every member signed exactly this topology. */
export const isPinnedByAll = (crypto: Crypto, pinned: PinnedTopology): boolean =>
  pinned.topology.members.length > 0 &&
  pinned.signatures.length === pinned.topology.members.length &&
  pinned.topology.members.every((each, index) => {
    const own = pinned.signatures[index];
    return own !== undefined && crypto.verify(each.identityKey, TOPOLOGY_TAG, topologyCodec, pinned.topology, own);
  });
