/**
 * How a peer introduces itself before there is a topology: who it is and the parameters of its initialization, under a
 * MAC of the cluster's bootstrap secret.
 */
import { bool, digest, list, publicKey, record, type TypeOf, uint } from "../codec/Codec.ts";
import { kept } from "../codec/Versioned.ts";
import type { Crypto } from "../crypto/Crypto.ts";
import type { Digest } from "../base/Digest.ts";
import { Limits } from "../base/Limits.ts";
import { FIRST_SLOT, type Topology } from "./Topology.ts";

const CARD_TAG = "CUSTODY_GENESIS_CARD_V1";
const CLUSTER_TAG = "CUSTODY_CLUSTER_V1";

export const cardCodec = kept(
  record({
    peerId: uint,
    identityKey: publicKey,
    threshold: uint,
    total: uint,
    configDigest: digest,
    /** Fresh at initialization, so that two clusters of the same peers differ. */
    nonce: digest,
    development: bool,
  }),
);
export type GenesisCard = TypeOf<typeof cardCodec>;

export const cardMac = (crypto: Crypto, secret: Uint8Array, card: GenesisCard): Digest =>
  crypto.mac(secret, CARD_TAG, cardCodec, card);

/** Whether a MAC belongs to a card; takes the same time wherever the two differ. */
export const isCardMac = (crypto: Crypto, secret: Uint8Array, card: GenesisCard, mac: Digest): boolean => {
  const own = cardMac(crypto, secret, card);
  let difference = own.length ^ mac.length;
  for (let at = 0; at < own.length; at++) difference |= own.charCodeAt(at) ^ mac.charCodeAt(at);
  return difference === 0;
};

/** The epoch-1 topology of a full set of cards; equal on every peer that holds the same cards. */
export const firstTopology = (crypto: Crypto, cards: ReadonlyArray<GenesisCard>): Topology => {
  const sorted = cards.toSorted((left, right) => left.peerId - right.peerId);
  return {
    // Each card is made in the oldest version of its peer: if all have one in common, it is the newest of these.
    version: Math.max(...sorted.map(({ version }) => version)),
    clusterId: crypto.digest(CLUSTER_TAG, list(cardCodec, Limits.members), sorted),
    epoch: 1,
    members: sorted.map((card, index) => ({
      peerId: card.peerId,
      identityKey: card.identityKey,
      shareIndex: index + 1,
    })),
    threshold: sorted[0]?.threshold ?? 0,
    prevDigest: undefined,
    development: sorted[0]?.development ?? false,
    firstSlot: FIRST_SLOT,
    transferId: undefined,
  };
};
