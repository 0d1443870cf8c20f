/**
 * Messages as bytes between peers: deterministic CBOR in an envelope signed over
 * sender, receiver, topology, nonce and content. Opening one is the first thing
 * that happens to bytes from the network.
 */
import { Either } from "effect";
import { decode } from "../core/codec/CborReader.ts";
import { encode } from "../core/codec/CborWriter.ts";
import type { Crypto, Signer } from "../core/Crypto.ts";
import type { Digest, PublicKey } from "../core/Digest.ts";
import type { PeerState } from "../core/PeerState.ts";
import {
  ENVELOPE_TAG,
  envelopeCodec,
  type Message,
  messageCodec,
  signedEnvelopeCodec,
} from "../core/protocol/Message.ts";
import type { PeerId } from "../core/protocol/Topology.ts";

/** Closes an envelope; without a signer (a sealed peer) only the answer to a probe may go, unsigned. */
export const sealEnvelope = (
  state: PeerState,
  signer: Signer | undefined,
  nonce: Digest,
  to: PeerId,
  message: Message,
): Uint8Array | undefined => {
  if (state.peer === undefined || (signer === undefined && message._tag !== "Ready")) return undefined;
  const envelope = {
    topologyDigest: state.membership?.digest,
    from: state.peer.peerId,
    to,
    nonce,
    message: encode(messageCodec, message),
  };
  return encode(signedEnvelopeCodec, { envelope, signature: signer?.sign(ENVELOPE_TAG, envelopeCodec, envelope) });
};

export interface Opened {
  readonly from: PeerId;
  readonly message: Message;
}

/** Which key a sender must have signed with: the pinned one, or before the founding the one on its card. */
const keyOf = (state: PeerState, from: PeerId, message: Message): PublicKey | undefined => {
  const pinned = state.membership?.keys.get(from);
  if (message._tag === "GenesisCard" || message._tag === "GenesisRefused") return message.card.identityKey;
  return pinned ?? (state.membership === undefined ? state.founding.cards.get(from)?.identityKey : undefined);
};

/** Messages that two peers exchange before they agree on a topology, or to find out that they do not. */
const crossesTopologies = (message: Message): boolean =>
  message._tag.startsWith("Genesis") || message._tag === "ReadyProbe" || message._tag === "Ready";

/** Opens an envelope; the left side says what is wrong with it, without content. */
export const openEnvelope = (crypto: Crypto, state: PeerState, bytes: Uint8Array): Either.Either<Opened, string> => {
  if (state.peer === undefined) return Either.left("this peer is not initialized");
  const outer = decode(signedEnvelopeCodec, bytes);
  if (Either.isLeft(outer)) return Either.left(`envelope: ${outer.left}`);
  const { envelope, signature } = outer.right;
  if (envelope.to !== state.peer.peerId) return Either.left("envelope.to: names another peer");
  const inner = decode(messageCodec, envelope.message);
  if (Either.isLeft(inner)) return Either.left(`envelope.message: ${inner.left}`);
  const message = inner.right;
  if (!crossesTopologies(message) && envelope.topologyDigest !== state.membership?.digest)
    return Either.left("envelope.topologyDigest: is not the topology of this peer");
  const { from } = envelope;
  if (signature === undefined)
    return message._tag === "Ready" && message.sealed
      ? Either.right({ from, message })
      : Either.left("envelope.signature: only a sealed peer's answer to a probe may go unsigned");
  const key = keyOf(state, from, message);
  if (key === undefined) return Either.left("envelope.from: is not known here");
  return crypto.verify(key, ENVELOPE_TAG, envelopeCodec, envelope, signature)
    ? Either.right({ from, message })
    : Either.left("envelope.signature: does not verify");
};
