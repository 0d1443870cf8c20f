/**
 * What travels between peers. Bulk runs pass values and compare what an envelope
 * binds (sender, receiver, topology, key); the others pass signed bytes through
 * the runtime's own codec.
 */
import { Either } from "effect";
import { encode } from "../../core/codec/CborWriter.ts";
import { decode } from "../../core/codec/CborReader.ts";
import type { Crypto, Signer } from "../../core/crypto/Crypto.ts";
import type { Digest, PublicKey } from "../../core/base/Digest.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import { commands } from "../../core/commands/Commands.ts";
import { ENVELOPE_VERSION, signedEnvelopeCodec } from "../../core/protocol/Message.ts";
import type { Message, Speech } from "../../core/Message.ts";
import { isOfPromotion } from "../../core/protocol/PromotionMessages.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Versions } from "../../core/protocol/Versions.ts";
import {
  crossesTopologies,
  knownKey,
  type Opened,
  openEnvelope,
  sealEnvelope,
  STRANGER_BYTES,
  type Unread,
} from "../../runtime/EnvelopeCodec.ts";

/** Something on its way; opaque to everyone but the wire that made it. */
export type Packet = ValueEnvelope | { readonly _tag: "Bytes"; readonly bytes: Uint8Array };

interface ValueEnvelope {
  readonly _tag: "Value";
  readonly topologyDigest: Digest | undefined;
  readonly from: PeerId;
  readonly to: PeerId;
  /** The key it was signed with; absent where it was not signed. */
  readonly key: PublicKey | undefined;
  readonly message: Message;
  readonly versions: Versions;
}

export interface Wire {
  readonly seal: (
    state: PeerState,
    signer: Signer | undefined,
    nonce: () => Digest,
    to: PeerId,
    message: Message,
    /** The version spoken by the program that sends it. */
    speech?: Speech,
  ) => Packet | undefined;
  /** The sender and its message; or a word for why the packet is refused. */
  readonly open: (
    crypto: Crypto,
    state: PeerState,
    packet: Packet,
    speech?: Speech,
    /** Whom a session has shown to have sent it. */
    member?: PeerId,
  ) => Opened | Unread | string;
  /** The same packet without a signature, as only a session may carry it; or as it is, where it goes signed there too. */
  readonly plain: (packet: Packet, message: Message) => Packet;
  /** The same packet, as made without the sender's key. */
  readonly forge: (packet: Packet) => Packet;
}

/** What founds a cluster shows its key in a session too. */
const isSignedAnyway = ({ _tag }: Message): boolean => _tag.startsWith("Genesis");

/** In a session a message has its place instead. */
const NO_NONCE = "0".repeat(64) as Digest;

const withoutSignature = (bytes: Uint8Array): Uint8Array => {
  const outer = Either.getOrThrow(decode(signedEnvelopeCodec, bytes, ENVELOPE_VERSION));
  return encode(signedEnvelopeCodec, { ...outer, nonce: NO_NONCE, signature: undefined });
};

/** The runtime's envelopes. */
export const byteWireOf = (usual: Speech): Wire => ({
  seal: (state, signer, nonce, to, message, speech = usual) => {
    const bytes = sealEnvelope(state, signer, nonce(), to, message, speech);
    return bytes && { _tag: "Bytes", bytes };
  },
  open: (crypto, state, packet, speech = usual, member) =>
    packet._tag === "Bytes" ? Either.merge(openEnvelope(crypto, state, packet.bytes, speech, member)) : "not bytes",
  plain: (packet, message) =>
    packet._tag === "Value" || packet.bytes.length > STRANGER_BYTES || isSignedAnyway(message)
      ? packet
      : { _tag: "Bytes", bytes: withoutSignature(packet.bytes) },
  forge: (packet) => {
    if (packet._tag === "Value") return packet;
    const bytes = new Uint8Array(packet.bytes);
    // The end of the signature, or the word that says that there is none.
    const at = bytes.length - 1;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    return { _tag: "Bytes", bytes };
  },
});

export const byteWire = byteWireOf(commands);

const keyOf = (
  { cluster: { membership, founding } }: PeerState,
  from: PeerId,
  message: Message,
): PublicKey | undefined => {
  if (message._tag === "GenesisCard" || message._tag === "GenesisRefused") return message.card.identityKey;
  if (isOfPromotion(message)) return message.identityKey;
  if (membership !== undefined) return membership.keys.get(from);
  if (message._tag === "GenesisPinned")
    return message.pinned.topology.members.find((each) => each.peerId === from)?.identityKey;
  const voted = founding.vote?.topology.members.find((each) => each.peerId === from);
  return voted?.identityKey ?? founding.cards.get(from)?.identityKey;
};

/** The same rules as `openEnvelope`, without bytes; properties/SimulationWire.test.ts compares them. */
const openValue = (state: PeerState, value: ValueEnvelope, member: PeerId | undefined): Opened | string => {
  const { topologyDigest, from, to, key, message } = value;
  if (state.cluster.peer === undefined) return "this peer is not initialized";
  if (to !== state.cluster.peer.peerId) return "names another peer";
  if (!crossesTopologies(message) && topologyDigest !== state.cluster.membership?.digest) return "another topology";
  if (member !== undefined && from !== member) return "another member's session";
  const showsItsKey = message._tag === "GenesisCard" || message._tag === "GenesisRefused" || isOfPromotion(message);
  const isPinning = message._tag === "GenesisPinned" && state.cluster.membership === undefined;
  if (member !== undefined && !showsItsKey && !isPinning) return value;
  if (member !== undefined && isOfPromotion(message) && knownKey(state, from) === message.identityKey) return value;
  if (key === undefined)
    return message._tag === "Ready" && message.sealed ? { from, message, versions: undefined } : "unsigned";
  const known = keyOf(state, from, message);
  if (known === undefined) return "the sender is not known here";
  if (known !== key) return "the signature does not verify";
  return knownKey(state, from) === key ? value : { from, message, versions: undefined };
};

export const valueWire: Wire = {
  seal: (state, signer, _nonce, to, message) => {
    if (state.cluster.peer === undefined || (signer === undefined && message._tag !== "Ready")) return undefined;
    return {
      _tag: "Value",
      topologyDigest: state.cluster.membership?.digest,
      from: state.cluster.peer.peerId,
      to,
      key: signer?.publicKey,
      message,
      versions: commands.versions,
    };
  },
  open: (_crypto, state, packet, _speech, member) =>
    packet._tag === "Value" ? openValue(state, packet, member) : "not a value",
  plain: (packet, message) =>
    packet._tag === "Bytes" || isSignedAnyway(message) ? packet : { ...packet, key: undefined },
  forge: (packet) => (packet._tag === "Bytes" ? packet : { ...packet, key: "f".repeat(64) as PublicKey }),
};
