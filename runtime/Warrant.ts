/**
 * The permission for a large message: a member's signed announcement, sent before it, of how many bytes will follow. A
 * sender that cannot give one is a stranger, from whom no more is read than a card or a topology takes.
 */
import { Either } from "effect";
import { digest, nullable, record, signature, type TypeOf, uint } from "../core/codec/Codec.ts";
import { decode } from "../core/codec/CborReader.ts";
import { encode } from "../core/codec/CborWriter.ts";
import { writtenIn } from "../core/codec/Versioned.ts";
import type { Crypto, Signer } from "../core/crypto/Crypto.ts";
import type { Digest } from "../core/base/Digest.ts";
import { ENVELOPE_VERSION } from "../core/protocol/Message.ts";
import type { PeerState } from "../core/protocol/PeerState.ts";
import type { PeerId } from "../core/protocol/Topology.ts";
import { knownKey } from "./EnvelopeCodec.ts";

const warrantFields = {
  from: uint,
  to: uint,
  topologyDigest: nullable(digest),
  /** Bytes of the envelope. */
  length: uint,
  /** Fresh for each: one warrant is good for one message at a time. */
  nonce: digest,
};
const warrantCodec = writtenIn(ENVELOPE_VERSION, record(warrantFields));
const signedWarrantCodec = writtenIn(ENVELOPE_VERSION, record({ ...warrantFields, signature }));
const WARRANT_TAG = "CUSTODY_WARRANT_V1";

export type Warrant = TypeOf<typeof warrantCodec>;

/** A warrant for an envelope of so many bytes. */
export const sealWarrant = (
  { cluster: { peer, membership } }: PeerState,
  signer: Signer,
  nonce: Digest,
  { to, length }: { readonly to: PeerId; readonly length: number },
): Uint8Array | undefined => {
  if (peer === undefined) return undefined;
  const warrant: Warrant = { from: peer.peerId, to, topologyDigest: membership?.digest, length, nonce };
  return encode(signedWarrantCodec, { ...warrant, signature: signer.sign(WARRANT_TAG, warrantCodec, warrant) });
};

/** The warrant in these bytes; undefined unless a member of this peer's topology gave it, to this peer. */
export const openWarrant = (crypto: Crypto, state: PeerState, bytes: Uint8Array): Warrant | undefined => {
  const decoded = decode(signedWarrantCodec, bytes, ENVELOPE_VERSION);
  if (Either.isLeft(decoded)) return undefined;
  const { signature: signed, ...warrant } = decoded.right;
  const key = knownKey(state, warrant.from);
  const isForThis =
    warrant.to === state.cluster.peer?.peerId && warrant.topologyDigest === state.cluster.membership?.digest;
  return isForThis && key !== undefined && crypto.verify(key, WARRANT_TAG, warrantCodec, warrant, signed)
    ? warrant
    : undefined;
};
