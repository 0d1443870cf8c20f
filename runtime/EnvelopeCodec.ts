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
import type { PeerId, PinnedTopology, Topology } from "../core/protocol/Topology.ts";
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

/** What a message may have this peer do before anybody vouches for it. */
export interface Scrutiny {
  /** Whether one more signature may be verified that may be nobody's. */
  readonly mayVerify: () => boolean;
  /** So many were nobody's, or of somebody who is not known here. */
  readonly unvouched: (signatures: number) => void;
  /** Whether a key that is not known here may be judged, which takes ten times as long; an earlier one costs nothing. */
  readonly mayJudge: (key: PublicKey) => boolean;
}

/** What a peer brings to all messages. */
export interface Opening extends Scrutiny {
  /** The key of the peer that its operator has named, to be promoted by. */
  readonly named: PublicKey | undefined;
  /** Whether what this known key has signed comes for the first time. */
  readonly isFirst: (key: PublicKey, nonce: Digest) => boolean;
}

/** The left side of {@link openEnvelope} where no more is looked into for its sender now. */
export const TOO_MUCH = "envelope: its sender has shown too much that nobody vouches for";

/** The key of its own that a message shows whose sender may not be known. */
const ownShown = (message: Message): PublicKey | undefined => {
  if (message._tag === "GenesisCard" || message._tag === "GenesisRefused") return message.card.identityKey;
  return isOfPromotion(message) ? message.identityKey : undefined;
};

const keysOf = ({ topology }: PinnedTopology): ReadonlyArray<PublicKey> =>
  topology.members.map(({ identityKey }) => identityKey);

/** All keys that a message shows by itself: any may be judged before it is found to mean nothing. */
const shownKeys = (message: Message): ReadonlyArray<PublicKey> => {
  const own = ownShown(message);
  const shown = own === undefined ? [] : [own];
  if (message._tag === "GenesisPinned") return keysOf(message.pinned);
  if (message._tag === "Promotion.Draft") return [...shown, ...keysOf(message.previous)];
  if (message._tag === "Promotion.Decided") return [...shown, ...keysOf(message.previous), ...keysOf(message.pinned)];
  return shown;
};

/** Whether a key is one that this peer has been told of by an operator, or has pinned, now or for a promotion. */
const isExpected = (
  { cluster: { membership, promotion, founding } }: PeerState,
  key: PublicKey,
  { named }: Opening,
): boolean => {
  const isOf = (members: Iterable<{ readonly identityKey: PublicKey }> = []): boolean => {
    for (const { identityKey } of members) if (identityKey === key) return true;
    return false;
  };
  return (
    key === named ||
    isOf(membership?.topology.members) ||
    isOf(promotion.own?.draft.members) ||
    isOf(promotion.bound?.draft.members) ||
    isOf(founding.vote?.topology.members) ||
    isOf(founding.cards.values())
  );
};

const refuse = (field: string, why: string): Either.Either<never, string> => Either.left(`envelope.${field}: ${why}`);

/**
 * Opens an envelope; the left side says what is wrong with it, without content.
 *
 * @param member whom a session has proven to have sent it: then it needs no signature
 * @param opening without it there is no bound to what is looked into
 */
export const openEnvelope = (
  crypto: Crypto,
  state: PeerState,
  bytes: Uint8Array,
  speech: Speech = commands,
  member?: PeerId,
  opening?: Opening,
): Either.Either<Opened | Unread, string> => {
  if (member !== undefined || opening === undefined) return openWith({ crypto, state, speech, member, opening }, bytes);
  if (!opening.mayVerify()) return Either.left(TOO_MUCH);
  const opened = openWith({ crypto, state, speech, member, opening }, bytes);
  if (Either.isLeft(opened)) opening.unvouched(1);
  // A topology comes with the signatures of all its members, which are verified inside.
  else if (!isSomebodys(opened.right, state, opening)) opening.unvouched(signaturesIn(opened.right.message));
  return opened;
};

/** That of the envelope, and one for each other key that a message shows. */
const signaturesIn = (message: Message | undefined): number => {
  if (message === undefined) return 1;
  const own = ownShown(message);
  return 1 + shownKeys(message).filter((key) => key !== own).length;
};

/** Whether a member has said it, or somebody that this peer waits for. */
const isSomebodys = ({ versions, message }: Opened | Unread, state: PeerState, opening: Opening): boolean => {
  const key = message && ownShown(message);
  return versions !== undefined || (key !== undefined && isExpected(state, key, opening));
};

interface OpeningPorts {
  readonly crypto: Crypto;
  readonly state: PeerState;
  readonly speech: Speech;
  readonly member: PeerId | undefined;
  readonly opening: Opening | undefined;
}

const openWith = (
  { crypto, state, speech, member, opening }: OpeningPorts,
  bytes: Uint8Array,
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
  const known = knownKey(state, from);
  const isVouched = member !== undefined || isSignedBy(known);
  // A stranger may have kept it, and would have it answered once more, in place of what its sender asks now.
  const isCopy = (key: PublicKey | undefined): boolean =>
    key !== undefined && member === undefined && opening?.isFirst(key, envelope.nonce) === false;
  if (isVouched && isCopy(known)) return refuse("nonce", "came before");
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
  const isDear = (key: PublicKey): boolean =>
    opening !== undefined && !isExpected(state, key, opening) && !opening.mayJudge(key);
  if (shownKeys(message).some(isDear)) return Either.left(TOO_MUCH);
  // A peer that introduces itself shows its key; every other sender's key must be known. What that key is worth is judged
  // inside; a session vouches for the one that its member is known by.
  const shown = ownShown(message);
  if (shown !== undefined) {
    const isKnown = member !== undefined && known === shown && isOfPromotion(message);
    if (!isKnown && !isSignedBy(shown)) return refuse("signature", "does not verify");
    const isWaitedFor = opening !== undefined && !isVouched && isExpected(state, shown, opening);
    return isWaitedFor && isCopy(shown) ? refuse("nonce", "came before") : opened;
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
