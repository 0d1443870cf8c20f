/**
 * How strangers become a cluster: every peer sends its card under the bootstrap
 * secret; a full set of matching cards makes the epoch-1 topology; each peer
 * signs one topology in its life, flushed before the signature leaves; with all
 * signatures it is pinned for ever. A mono instance is a topology of one.
 *
 * A disk may have gone back to before the topology, or to before this peer's own
 * signature: a member shows it the pinned one, and that signature in it is the vote.
 */
import type { Signature } from "../base/Digest.ts";
import type { Event } from "./Event.ts";
import { Limits } from "../base/Limits.ts";
import { countersRow } from "./PeerState.ts";
import { type BodyFault, type Rejection, rejection } from "../base/Rejection.ts";
import { numberKey, type Rows, SELF } from "./Tables.ts";
import { FIRST_INCARNATION } from "./SignedState.ts";
import type { Turn } from "./Turn.ts";
import { auditFounding } from "./Audit.ts";
import { cardMac, firstTopology, type GenesisCard, isCardMac } from "./GenesisCard.ts";
import { beginJoining } from "./Joining.ts";
import { beginDeclared } from "./Recovery.ts";
import type { MessageOf } from "./Message.ts";
import {
  isPinnedByAll,
  membershipOf,
  type PeerId,
  type Topology,
  TOPOLOGY_TAG,
  topologyCodec,
  topologyDigest,
} from "./Topology.ts";

type Initialize = Extract<Event, { readonly _tag: "Initialize" }>;

const RESEND_MILLIS = 500;
const NO_SECRET = "this peer has no bootstrap secret: it can be shown a cluster that it founded before, and found none";

const initializeFaults = (turn: Turn, { peerId, threshold, total }: Initialize): ReadonlyArray<BodyFault> => {
  const { ownId, peers } = turn.context.settings;
  const faults: Array<BodyFault> = [];
  const fault = (pointer: string, code: string, detail: string): void => void faults.push({ pointer, code, detail });
  if (ownId !== undefined && peerId !== ownId)
    fault("/peerId", "mismatch", `The configuration says under peer.id that this is peer ${ownId}.`);
  if (peerId < 1) fault("/peerId", "out_of_range", "A peer id is a number from 1.");
  if (total < 1 || total > Limits.members)
    fault("/total", "out_of_range", `The total is between 1 and ${Limits.members}.`);
  if (total === 1 ? threshold !== 1 : threshold <= 1 || threshold > total)
    fault("/threshold", "out_of_range", "A mono instance is 1 of 1; in a cluster 1 < threshold <= total.");
  if (peers.includes(peerId)) fault("/peerId", "duplicate", "The configuration names another peer with this id.");
  if (total !== peers.length + 1)
    fault(
      "/total",
      "mismatch",
      `The configuration names ${peers.length} other peers, so the total is ${peers.length + 1}.`,
    );
  return faults;
};

const initializeRefusal = (turn: Turn, event: Initialize): Rejection | undefined => {
  const {
    cluster: { peer },
    standing: { integrityFault },
  } = turn.state;
  if (integrityFault !== undefined)
    return rejection(
      "INTEGRITY_FAILURE",
      "The stored records of this peer do not hold, so it cannot be told who it is.",
      "Restore the peer's data folder from a backup, or replace the peer.",
    );
  if (peer?.unsealedOnce === true)
    return rejection(
      "ALREADY_INITIALIZED",
      "This peer was initialized and unsealed before.",
      "Unseal it with its shares; a lost peer is replaced, not initialized again.",
    );
  const faults = initializeFaults(turn, event);
  return faults.length === 0
    ? undefined
    : rejection("INVALID_REQUEST_BODY", "The initialization does not fit.", "Correct the named fields.", { faults });
};

export const onInitialize = (turn: Turn, event: Initialize): void => {
  const refusal = initializeRefusal(turn, event);
  if (refusal !== undefined) return turn.reply(event.requestId, { _tag: "Rejected", rejection: refusal });
  const again = turn.state.cluster.peer !== undefined;
  const row: Rows["peer"] = {
    peerId: event.peerId,
    threshold: event.threshold,
    total: event.total,
    identityKey: event.identityKey,
    integrityKey: event.integrityKey,
    nonce: turn.context.entropy,
    unsealedOnce: false,
  };
  const op = again ? "replace" : "insert";
  turn.draft("cluster").peer = row;
  turn.write({ op, table: "peer", key: SELF, row });
  turn.write({ op, table: "vault", key: SELF, row: { blob: event.vault } });
  if (!again) turn.write({ op: "insert", table: "counters", key: SELF, row: countersRow(turn.state) });
  turn.reply(event.requestId, { _tag: "Initialized" });
};

const ownCard = (turn: Turn, peer: Rows["peer"]): GenesisCard => ({
  version: turn.context.commands.versions.lowest,
  peerId: peer.peerId,
  identityKey: peer.identityKey,
  threshold: peer.threshold,
  total: peer.total,
  configDigest: turn.context.settings.configDigest,
  nonce: peer.nonce,
  development: turn.context.settings.development,
});

/** Who this peer is, while it founds a cluster. */
const foundingPeer = ({ mode, state }: Turn): Rows["peer"] | undefined =>
  mode === "founding" ? state.cluster.peer : undefined;

/** Continues, or begins, the founding after an unseal. */
export const continueGenesis = (turn: Turn): void => {
  const peer = foundingPeer(turn);
  if (peer === undefined) return;
  if (!peer.unsealedOnce) {
    // From now on the identity is fixed: flushed before the card that shows it leaves.
    const row = { ...peer, unsealedOnce: true };
    turn.draft("cluster").peer = row;
    turn.write({ op: "replace", table: "peer", key: SELF, row });
  }
  const { cards } = turn.state.cluster.founding;
  turn.draft("cluster").founding = {
    ...turn.state.cluster.founding,
    cards: new Map(cards).set(peer.peerId, ownCard(turn, peer)),
  };
  introduce(turn, peer);
  castVote(turn);
};

/** Sends what this peer has to say until the topology is pinned. */
const introduce = (turn: Turn, peer: Rows["peer"]): void => {
  const {
    cluster: { founding },
  } = turn.state;
  const { settings, crypto } = turn.context;
  if (settings.peers.length === 0) return;
  const card = ownCard(turn, peer);
  const mac = settings.bootstrapSecret && cardMac(crypto, settings.bootstrapSecret, card);
  if (mac === undefined) noteFault(turn, peer.peerId, NO_SECRET);
  turn.sendAll({ _tag: "GenesisCard", card, mac }, settings.peers);
  if (founding.vote !== undefined)
    turn.sendAll(
      { _tag: "GenesisVote", topologyDigest: founding.vote.digest, signature: founding.vote.signature },
      settings.peers,
    );
  turn.arm("genesis", RESEND_MILLIS);
};

export const onGenesisTimer = (turn: Turn): void => {
  const peer = foundingPeer(turn);
  if (peer !== undefined) introduce(turn, peer);
};

/** Why a card does not belong into this founding; a sentence for the operator. */
const cardFault = (turn: Turn, peer: Rows["peer"], card: GenesisCard): string | undefined => {
  const {
    cluster: { membership, founding },
  } = turn.state;
  const { settings } = turn.context;
  if (membership !== undefined)
    return membership.keys.get(card.peerId) === card.identityKey
      ? undefined
      : `peer ${card.peerId} is not the one pinned in the topology: it was wiped, or is a stranger`;
  if (card.peerId === peer.peerId) return `peer id ${card.peerId} is used twice`;
  // One vote in a lifetime: it must not be spent on a peer that was never expected.
  if (!settings.peers.includes(card.peerId)) return `peer ${card.peerId} is not in this peer's configuration`;
  const known =
    founding.vote?.topology.members.find((each) => each.peerId === card.peerId)?.identityKey ??
    founding.cards.get(card.peerId)?.identityKey;
  if (known !== undefined && known !== card.identityKey)
    return `peer id ${card.peerId} is used twice, or that peer was wiped during the founding`;
  if (card.total !== peer.total) return `peer ${card.peerId} has total ${card.total}, this peer has ${peer.total}`;
  if (card.threshold !== peer.threshold)
    return `peer ${card.peerId} has threshold ${card.threshold}, this peer has ${peer.threshold}`;
  if (card.configDigest !== settings.configDigest) return `peer ${card.peerId} has another cluster configuration`;
  if (card.development !== settings.development)
    return `only one of this peer and peer ${card.peerId} is a development peer`;
  return undefined;
};

const noteFault = (turn: Turn, peerId: PeerId, fault: string): void => {
  const {
    cluster: { founding },
  } = turn.state;
  // Strangers may invent ids; they must not take the room of the peers that are expected.
  const isExpected = turn.state.cluster.peer?.peerId === peerId || turn.context.settings.peers.includes(peerId);
  if (founding.faults.get(peerId) === fault || (!isExpected && founding.faults.size >= Limits.members)) return;
  turn.draft("cluster").founding = { ...founding, faults: new Map(founding.faults).set(peerId, fault) };
};

export const onGenesisCard = (turn: Turn, from: PeerId, { card, mac }: MessageOf<"GenesisCard">): void => {
  const { crypto, settings } = turn.context;
  const {
    cluster: { peer, founding, pinned, membership },
  } = turn.state;
  if (peer === undefined || from !== card.peerId) return;
  // A member whose disk is from before the founding. No secret is needed for it, nor is there one any more.
  const isMember = membership?.keys.get(from) === card.identityKey;
  // Without a secret nobody can be refused; but who has another key than was pinned can see that it has.
  const isShown = isMember || settings.bootstrapSecret === undefined;
  if (pinned !== undefined && isShown) return turn.send(from, { _tag: "GenesisPinned", pinned });
  if (settings.bootstrapSecret === undefined) return;
  if (mac === undefined || !isCardMac(crypto, settings.bootstrapSecret, card, mac))
    // Anybody may write a number on a card; a peer that has shown a good one is not blamed for it.
    return founding.cards.has(from) || pinned !== undefined
      ? undefined
      : noteFault(turn, from, `peer ${from} does not know this cluster's bootstrap secret`);
  const reason = cardFault(turn, peer, card);
  if (reason !== undefined) {
    noteFault(turn, from, reason);
    const own = ownCard(turn, peer);
    return turn.send(from, {
      _tag: "GenesisRefused",
      card: own,
      mac: cardMac(crypto, settings.bootstrapSecret, own),
      reason,
    });
  }
  if (!founding.cards.has(from)) {
    const faults = new Map(founding.faults);
    faults.delete(from);
    turn.draft("cluster").founding = { ...founding, cards: new Map(founding.cards).set(from, card), faults };
  }
  castVote(turn);
};

export const onGenesisRefused = (
  turn: Turn,
  from: PeerId,
  { card, mac, reason }: MessageOf<"GenesisRefused">,
): void => {
  const { crypto, settings } = turn.context;
  if (turn.state.cluster.membership !== undefined || settings.bootstrapSecret === undefined || from !== card.peerId)
    return;
  if (isCardMac(crypto, settings.bootstrapSecret, card, mac)) noteFault(turn, from, `peer ${from} refused: ${reason}`);
};

/** Signs the topology that a full set of cards makes, once in this peer's life. */
const castVote = (turn: Turn): void => {
  const {
    cluster: { founding },
  } = turn.state;
  const { crypto, signer } = turn.context;
  const peer = foundingPeer(turn);
  if (peer === undefined || signer === undefined) return;
  if (founding.vote !== undefined || founding.cards.size !== peer.total) return;
  const topology = firstTopology(crypto, [...founding.cards.values()]);
  const digest = topologyDigest(crypto, topology);
  const signature = signer.sign(TOPOLOGY_TAG, topologyCodec, topology);
  turn.write({ op: "insert", table: "genesis", key: SELF, row: { topology, signature } });
  turn.draft("cluster").founding = {
    ...turn.state.cluster.founding,
    vote: { topology, signature, digest },
    signatures: new Map(founding.signatures).set(peer.peerId, signature),
  };
  turn.sendAll({ _tag: "GenesisVote", topologyDigest: digest, signature }, turn.context.settings.peers);
  pinWhenComplete(turn, topology);
};

export const onGenesisVote = (turn: Turn, from: PeerId, message: MessageOf<"GenesisVote">): void => {
  const {
    cluster: { founding, membership, pinned },
  } = turn.state;
  if (membership !== undefined) {
    if (pinned !== undefined && membership.digest === message.topologyDigest)
      turn.send(from, { _tag: "GenesisPinned", pinned });
    return;
  }
  const { vote } = founding;
  const member = vote?.topology.members.find((each) => each.peerId === from);
  if (vote === undefined || foundingPeer(turn) === undefined) return;
  if (member === undefined || vote.digest !== message.topologyDigest)
    return noteFault(turn, from, `peer ${from} signed another topology: initialize again whichever was wrong`);
  if (!turn.context.crypto.verify(member.identityKey, TOPOLOGY_TAG, topologyCodec, vote.topology, message.signature))
    return;
  turn.draft("cluster").founding = {
    ...founding,
    signatures: new Map(founding.signatures).set(from, message.signature),
  };
  pinWhenComplete(turn, vote.topology);
};

export const onGenesisPinned = (turn: Turn, from: PeerId, { pinned }: MessageOf<"GenesisPinned">): void => {
  const { vote } = turn.state.cluster.founding;
  const { crypto } = turn.context;
  const peer = foundingPeer(turn);
  if (peer === undefined) return;
  const { topology, signatures } = pinned;
  if (vote !== undefined && topologyDigest(crypto, topology) !== vote.digest) return;
  const place = topology.members.findIndex(({ peerId }) => peerId === peer.peerId);
  const signature = signatures[place];
  if (signature === undefined || !isPinnedByAll(crypto, pinned)) return;
  if (topology.members[place]?.identityKey !== peer.identityKey)
    return noteFault(
      turn,
      from,
      `peer ${from} shows a cluster that was founded with another key for peer ${peer.peerId}: this one was wiped, or initialized again`,
    );
  // What it has signed it has voted for, whether it remembers that or not.
  if (vote === undefined) turn.write({ op: "insert", table: "genesis", key: SELF, row: { topology, signature } });
  pin(turn, pinned);
};

const pinWhenComplete = (turn: Turn, topology: Topology): void => {
  const { signatures } = turn.state.cluster.founding;
  const inOrder = topology.members.flatMap(({ peerId }): ReadonlyArray<Signature> => {
    const own = signatures.get(peerId);
    return own === undefined ? [] : [own];
  });
  if (inOrder.length === topology.members.length) pin(turn, { topology, signatures: inOrder });
};

const pin = (turn: Turn, pinned: Rows["topology"]): void => {
  const membership = membershipOf(turn.context.crypto, pinned.topology);
  turn.draft("cluster").membership = membership;
  turn.draft("cluster").pinned = pinned;
  turn.draft("cluster").founding = { cards: new Map(), vote: undefined, signatures: new Map(), faults: new Map() };
  // The chain of statement batches starts at the topology it votes under.
  turn.draft("signed").chain = { incarnation: FIRST_INCARNATION, batchNo: 0, hash: membership.digest };
  turn.write({ op: "insert", table: "topology", key: SELF, row: pinned });
  for (const peerId of turn.others) {
    const row = { peerId, incarnation: FIRST_INCARNATION, newest: undefined, restored: undefined };
    turn.edit("signed", "seen").set(peerId, row);
    turn.write({ op: "insert", table: "seen", key: numberKey(peerId), row });
  }
  auditFounding(turn, membership);
  turn.sendAll({ _tag: "GenesisPinned", pinned });
  // A disk that went back to before the topology looks like one that never had it.
  beginJoining(turn);
  beginDeclared(turn);
};
