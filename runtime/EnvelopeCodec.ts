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

/** What goes to every member is one object, so it is encoded once. */
const encoded = new WeakMap<Message, Uint8Array>();

const encodedOnce = (message: Message): Uint8Array => {
  const known = encoded.get(message);
  if (known !== undefined) return known;
  const bytes = encode(messageCodec, message);
  encoded.set(message, bytes);
  return bytes;
};

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
    message: encodedOnce(message),
  };
  return encode(signedEnvelopeCodec, { envelope, signature: signer?.sign(ENVELOPE_TAG, envelopeCodec, envelope) });
};

export interface Opened {
  readonly from: PeerId;
  readonly message: Message;
}

/** The key a sender is known by: the pinned one, or before the founding the one voted for or shown on its card. */
const knownKey = ({ membership, founding }: PeerState, from: PeerId): PublicKey | undefined =>
  membership !== undefined
    ? membership.keys.get(from)
    : (founding.vote?.topology.members.find((each) => each.peerId === from)?.identityKey ??
      founding.cards.get(from)?.identityKey);

/** A peer that introduces itself shows its key; every other one must be known. */
const keyOf = (state: PeerState, from: PeerId, message: Message): PublicKey | undefined =>
  message._tag === "GenesisCard" || message._tag === "GenesisRefused"
    ? message.card.identityKey
    : knownKey(state, from);

/** What a stranger may make this peer decode before a signature is checked: a card or a topology, not more. */
const STRANGER_BYTES = 64 * 1024;

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
  const { from } = envelope;
  const known = knownKey(state, from);
  const isVouched =
    known !== undefined &&
    signature !== undefined &&
    crypto.verify(known, ENVELOPE_TAG, envelopeCodec, envelope, signature);
  if (!isVouched && envelope.message.length > STRANGER_BYTES)
    return Either.left("envelope.signature: does not verify for a message of this size");
  const inner = decode(messageCodec, envelope.message);
  if (Either.isLeft(inner)) return Either.left(`envelope.message: ${inner.left}`);
  const message = inner.right;
  if (!crossesTopologies(message) && envelope.topologyDigest !== state.membership?.digest)
    return Either.left("envelope.topologyDigest: is not the topology of this peer");
  if (signature === undefined)
    return message._tag === "Ready" && message.sealed
      ? Either.right({ from, message })
      : Either.left("envelope.signature: only a sealed peer's answer to a probe may go unsigned");
  const key = keyOf(state, from, message);
  if (key === undefined) return Either.left("envelope.from: is not known here");
  return (key === known && isVouched) ||
    (key !== known && crypto.verify(key, ENVELOPE_TAG, envelopeCodec, envelope, signature))
    ? Either.right({ from, message })
    : Either.left("envelope.signature: does not verify");
};
