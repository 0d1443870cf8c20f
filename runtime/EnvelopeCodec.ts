/**
 * Messages as bytes between peers: deterministic CBOR in an envelope signed over
 * sender, receiver, topology, nonce and content. Opening one is the first thing
 * that happens to bytes from the network.
 */
import { Either } from "effect";
import { decode } from "../core/codec/CborReader.ts";
import { encode } from "../core/codec/CborWriter.ts";
import type { Codec } from "../core/codec/Codec.ts";
import type { Crypto, Signer } from "../core/crypto/Crypto.ts";
import type { Digest, PublicKey } from "../core/base/Digest.ts";
import { commands } from "../core/commands/Commands.ts";
import type { PeerState } from "../core/protocol/PeerState.ts";
import { type Message, messagesIn, type Speech } from "../core/Message.ts";
import { ENVELOPE_TAG, ENVELOPE_VERSION, envelopeCodec, signedEnvelopeCodec } from "../core/protocol/Message.ts";
import { isOfPromotion } from "../core/protocol/PromotionMessages.ts";
import type { PeerId, Topology } from "../core/protocol/Topology.ts";
import { isSpoken, versionFrom, type Versions } from "../core/protocol/Versions.ts";

/** A message to every member is one object, so it is encoded once, as long as they speak the same version. */
const encoded = new WeakMap<Message, { readonly codec: Codec<Message>; readonly bytes: Uint8Array }>();

const encodedOnce = (message: Message, codec: Codec<Message>): Uint8Array => {
  const known = encoded.get(message);
  if (known?.codec === codec) return known.bytes;
  const bytes = encode(codec, message);
  encoded.set(message, { codec, bytes });
  return bytes;
};

const envelopeOf = (
  { cluster: { peer, membership, spoken } }: PeerState,
  nonce: Digest,
  to: PeerId,
  message: Message,
  speech: Speech,
) => {
  if (peer === undefined) return undefined;
  const { versions } = speech;
  const version = versionFrom(speech.firstOf(message), versions, spoken.get(to));
  // To one that has no such message it is as good as lost.
  if (version === undefined) return undefined;
  const bytes = encodedOnce(message, messagesIn(speech, version));
  return { from: peer.peerId, to, versions, version, topologyDigest: membership?.digest, nonce, message: bytes };
};

/** In an envelope that a session vouches for: there it has its place instead. */
const NO_NONCE = "0".repeat(64) as Digest;

/** An envelope without a signature: only a session with its receiver may carry it. */
export const plainEnvelope = (
  state: PeerState,
  to: PeerId,
  message: Message,
  speech: Speech = commands,
): Uint8Array | undefined => {
  const envelope = envelopeOf(state, NO_NONCE, to, message, speech);
  return envelope && encode(signedEnvelopeCodec, { ...envelope, signature: undefined });
};

/** Closes an envelope; without a signer (a sealed peer) only the answer to a probe may go, unsigned. */
export const sealEnvelope = (
  state: PeerState,
  signer: Signer | undefined,
  nonce: Digest,
  to: PeerId,
  message: Message,
  speech: Speech = commands,
): Uint8Array | undefined => {
  if (signer === undefined && message._tag !== "Ready") return undefined;
  const envelope = envelopeOf(state, nonce, to, message, speech);
  if (envelope === undefined) return undefined;
  return encode(signedEnvelopeCodec, {
    ...envelope,
    signature: signer?.sign(ENVELOPE_TAG, envelopeCodec, envelope),
  });
};

export interface Opened {
  readonly from: PeerId;
  /** The versions that the sender speaks; undefined where nobody vouches for them. */
  readonly versions: Versions | undefined;
  readonly message: Message;
}

/** A valid envelope with a message in a version that is not spoken here. */
export interface Unread {
  readonly from: PeerId;
  readonly versions: Versions;
  readonly message: undefined;
}

const memberKey = ({ members }: Topology, peerId: PeerId): PublicKey | undefined =>
  members.find((each) => each.peerId === peerId)?.identityKey;

/** The key a sender is known by: the pinned one, or before the founding the one voted for or shown on its card. */
export const knownKey = ({ cluster: { membership, founding } }: PeerState, from: PeerId): PublicKey | undefined =>
  membership !== undefined
    ? membership.keys.get(from)
    : ((founding.vote && memberKey(founding.vote.topology, from)) ?? founding.cards.get(from)?.identityKey);

/** The most that a stranger may make this peer decode before a signature is checked: a card or a topology. */
export const STRANGER_BYTES = 64 * 1024;

/** Messages that two peers exchange before they agree on a topology, or to find out that they do not. */
export const crossesTopologies = (message: Message): boolean =>
  message._tag.startsWith("Genesis") ||
  message._tag === "ReadyProbe" ||
  message._tag === "Ready" ||
  isOfPromotion(message);

const refuse = (field: string, why: string): Either.Either<never, string> => Either.left(`envelope.${field}: ${why}`);

/**
 * Opens an envelope; the left side says what is wrong with it, without content.
 *
 * @param member whom a session has proven to have sent it: then it needs no signature
 */
export const openEnvelope = (
  crypto: Crypto,
  state: PeerState,
  bytes: Uint8Array,
  speech: Speech = commands,
  member?: PeerId,
): Either.Either<Opened | Unread, string> => {
  if (state.cluster.peer === undefined) return Either.left("this peer is not initialized");
  const outer = decode(signedEnvelopeCodec, bytes, ENVELOPE_VERSION);
  if (Either.isLeft(outer)) return refuse("bytes", outer.left);
  const { signature, ...envelope } = outer.right;
  const { from, to, versions, topologyDigest } = envelope;
  if (to !== state.cluster.peer.peerId) return refuse("to", "names another peer");
  const isSignedBy = (key: PublicKey | undefined): boolean =>
    key !== undefined &&
    signature !== undefined &&
    crypto.verify(key, ENVELOPE_TAG, envelopeCodec, envelope, signature);
  if (member !== undefined && from !== member) return refuse("from", "is not the member of this session");
  const isVouched = member !== undefined || isSignedBy(knownKey(state, from));
  if (!isVouched && envelope.message.length > STRANGER_BYTES)
    return refuse("signature", "does not verify for a message of this size");
  if (!isSpoken(speech.versions, envelope))
    return isVouched
      ? Either.right({ from, versions, message: undefined })
      : refuse("version", `${envelope.version} is not spoken here`);
  const inner = decode(messagesIn(speech, envelope.version), envelope.message, speech.versions.highest);
  if (Either.isLeft(inner)) return refuse("message", inner.left);
  const message = inner.right;
  if (!crossesTopologies(message) && topologyDigest !== state.cluster.membership?.digest)
    return refuse("topologyDigest", "is not the topology of this peer");
  const opened = Either.right({ from, versions: isVouched ? versions : undefined, message });
  // A peer that introduces itself shows its key; every other sender's key must be known.
  if (message._tag === "GenesisCard" || message._tag === "GenesisRefused")
    return isSignedBy(message.card.identityKey) ? opened : refuse("signature", "does not verify");
  // What its sender's key is worth is judged inside; a session vouches for the key that its member is known by.
  if (isOfPromotion(message)) {
    const isKnown = member !== undefined && knownKey(state, from) === message.identityKey;
    return isKnown || isSignedBy(message.identityKey) ? opened : refuse("signature", "does not verify");
  }
  // The sender of a topology is a member of it; the core checks for itself whether all members have signed it.
  if (message._tag === "GenesisPinned" && state.cluster.membership === undefined)
    return isSignedBy(memberKey(message.pinned.topology, from)) ? opened : refuse("signature", "does not verify");
  if (signature === undefined && member === undefined)
    return message._tag === "Ready" && message.sealed
      ? opened
      : refuse("signature", "only a sealed peer's answer to a probe may go unsigned");
  return isVouched ? opened : refuse("signature", "does not verify for a member of this cluster");
};
