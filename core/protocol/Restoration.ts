/**
 * A declared restore: a peer says, under its identity key, that its disk is not the one it last signed from, and begins
 * a new incarnation. The incarnation in every header tells its earlier statements from its new ones (protocol.md 4i).
 */
import { digest, record, signature, type TypeOf, uint } from "../codec/Codec.ts";
import { kept } from "../codec/Versioned.ts";
import type { Crypto } from "../crypto/Crypto.ts";
import type { Digest } from "../base/Digest.ts";
import type { Membership } from "./Topology.ts";

export const RESTORATION_TAG = "CUSTODY_SNAP_REQ_V1";

export const restorationCodec = kept(
  record({
    topologyDigest: digest,
    peerId: uint,
    /** Higher than any this peer has had: of two equal ones, only the first is believed. */
    incarnation: uint,
    /** Tells two restores apart that a wrong clock gave the same incarnation. */
    recoveryId: digest,
  }),
);
export type Restoration = TypeOf<typeof restorationCodec>;

/** Convinces anybody who knows the topology, whoever passes it on. */
export const signedRestorationFields = { restoration: restorationCodec, signature };
export const signedRestorationCodec = record(signedRestorationFields);
export type SignedRestoration = TypeOf<typeof signedRestorationCodec>;

/** Whether a member of this topology announced it. */
export const isAnnounced = (
  crypto: Crypto,
  membership: Membership,
  { restoration, signature }: SignedRestoration,
): boolean => {
  const key = membership.keys.get(restoration.peerId);
  return (
    key !== undefined &&
    restoration.topologyDigest === membership.digest &&
    crypto.verify(key, RESTORATION_TAG, restorationCodec, restoration, signature)
  );
};

/** The previous batch hash in the first batch of the new incarnation. */
export const restorationHash = (crypto: Crypto, restoration: Restoration): Digest =>
  crypto.digest(RESTORATION_TAG, restorationCodec, restoration);
