/**
 * How strangers become a cluster: every peer sends its card under the bootstrap
 * secret; a full set of matching cards makes the epoch-1 topology; each peer
 * signs one topology in its incarnation, flushed before the signature leaves; with all
 * signatures it is pinned for ever. A mono instance is a topology of one.
 *
 * A disk may be from before the topology, or from before this peer's own signature: a member then shows it the pinned
 * topology, and this peer's signature in it is the vote.
 */
import type { Signature } from "../base/Digest.ts";
import type { Event } from "./Event.ts";
import { Limits } from "../base/Limits.ts";
import { countersRow } from "./PeerState.ts";
import { type BodyFault, type Rejection, rejection } from "../base/Rejection.ts";
import { numberKey, type Rows, SELF } from "./Tables.ts";
import { FIRST_INCARNATION } from "./SignedState.ts";
import type { Step } from "./Step.ts";
import { auditFounding } from "./Audit.ts";
import { decisionTold } from "./PromotionTold.ts";
import { cardMac, firstTopology, type GenesisCard, isCardMac } from "./GenesisCard.ts";
import { beginJoining } from "./Joining.ts";
import { beginDeclared } from "./Recovery.ts";
import type { MessageOf } from "./Message.ts";
import { freshNonce } from "./Nonces.ts";
import {
  isPinnedByAll,
  type Membership,
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

const initializeFaults = (step: Step, { peerId, threshold, total }: Initialize): ReadonlyArray<BodyFault> => {
  const { ownId, peers } = step.context.settings;
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
  // An instance may be alone, and know where the peers are with which it is to be a cluster one day (contract 10.1).
  if (total !== 1 && total !== peers.length + 1)
    fault(
      "/total",
      "mismatch",
      `The configuration names ${peers.length} other peers, so the total is ${peers.length + 1}.`,
    );
  return faults;
};

const initializeRefusal = (step: Step, event: Initialize): Rejection | undefined => {
  const {
    cluster: { peer },
    fitness: { integrityFault },
  } = step.state;
  if (integrityFault !== undefined)
    return rejection(
      "INTEGRITY_FAILURE",
      "The stored records of this peer do not hold, so it cannot be told who it is.",
      "Restore it from any backup of its own.",
    );
  if (peer?.unsealedOnce === true)
    return rejection(
      "ALREADY_INITIALIZED",
      "This peer was initialized and unsealed before.",
      "Unseal it with its shares; where its disk is lost, restore it from any backup of its own.",
    );
  const faults = initializeFaults(step, event);
  return faults.length === 0
    ? undefined
    : rejection("INVALID_REQUEST_BODY", "The initialization does not fit.", "Correct the named fields.", { faults });
};

export const onInitialize = (step: Step, event: Initialize): void => {
  const refusal = initializeRefusal(step, event);
  if (refusal !== undefined) return step.reply(event.requestId, { _tag: "Rejected", rejection: refusal });
  const again = step.state.cluster.peer !== undefined;
  const row: Rows["peer"] = {
    peerId: event.peerId,
    threshold: event.threshold,
    total: event.total,
    identityKey: event.identityKey,
    integrityKey: event.integrityKey,
    nonce: freshNonce(step, "genesis"),
    unsealedOnce: false,
  };
  const op = again ? "replace" : "insert";
  step.draft("cluster").peer = row;
  step.write({ op, table: "peer", key: SELF, row });
  step.write({ op, table: "vault", key: SELF, row: { blob: event.vault } });
  if (!again) step.write({ op: "insert", table: "counters", key: SELF, row: countersRow(step.state) });
  step.reply(event.requestId, { _tag: "Initialized" });
};

const ownCard = (step: Step, peer: Rows["peer"]): GenesisCard => ({
  version: step.context.commands.versions.lowest,
  peerId: peer.peerId,
  identityKey: peer.identityKey,
  threshold: peer.threshold,
  total: peer.total,
  configDigest: step.context.settings.configDigest,
  nonce: peer.nonce,
  development: step.context.settings.development,
});

/** Who this peer is, while it founds a cluster. */
const foundingPeer = ({ mode, state }: Step): Rows["peer"] | undefined =>
  mode === "founding" ? state.cluster.peer : undefined;

/** Continues, or begins, the founding after an unseal. */
export const continueGenesis = (step: Step): void => {
  const peer = foundingPeer(step);
  if (peer === undefined) return;
  const awaits = step.context.settings.joins?.peerId ?? step.state.cluster.promotion.bound?.draft.source;
  if (awaits !== undefined) step.draft("cluster").promotion = { ...step.state.cluster.promotion, awaits };
  if (!peer.unsealedOnce) {
    // From now on the identity is fixed: flushed before the card with it leaves.
    const row = { ...peer, unsealedOnce: true };
    step.draft("cluster").peer = row;
    step.write({ op: "replace", table: "peer", key: SELF, row });
  }
  const { cards } = step.state.cluster.founding;
  step.draft("cluster").founding = {
    ...step.state.cluster.founding,
    cards: new Map(cards).set(peer.peerId, ownCard(step, peer)),
  };
  introduce(step, peer);
  castVote(step);
};

/** Sends what this peer has to say until the topology is pinned. */
const introduce = (step: Step, peer: Rows["peer"]): void => {
  const {
    cluster: { founding },
  } = step.state;
  const { settings, crypto } = step.context;
  if (settings.peers.length === 0) return;
  const card = ownCard(step, peer);
  // A peer that waits for a promotion founds nothing; whoever has made it a member before shows it that.
  if (isTarget(step)) {
    step.sendAll({ _tag: "GenesisCard", card, mac: undefined }, settings.peers);
    return step.arm("genesis", RESEND_MILLIS);
  }
  const mac = settings.bootstrapSecret && cardMac(crypto, settings.bootstrapSecret, card);
  if (mac === undefined) noteFault(step, peer.peerId, NO_SECRET);
  step.sendAll({ _tag: "GenesisCard", card, mac }, settings.peers);
  if (founding.vote !== undefined)
    step.sendAll(
      { _tag: "GenesisVote", topologyDigest: founding.vote.digest, signature: founding.vote.signature },
      settings.peers,
    );
  step.arm("genesis", RESEND_MILLIS);
};

/** Whether it waits for a promotion, or has accepted one. */
const isTarget = ({ context, state }: Step): boolean =>
  context.settings.joins !== undefined || state.cluster.promotion.bound !== undefined;

/** Has an instance that is alone ask the peers of its configuration what they know of it. */
export const introduceAgain = (step: Step): void => {
  const { peer } = step.state.cluster;
  if (peer === undefined) return;
  step.sendAll({ _tag: "GenesisCard", card: ownCard(step, peer), mac: undefined }, step.context.settings.peers);
};

export const onGenesisTimer = (step: Step): void => {
  const peer = foundingPeer(step);
  if (peer !== undefined) introduce(step, peer);
};

/** Why a card does not fit this founding; a sentence for the operator. */
const cardFault = (step: Step, peer: Rows["peer"], card: GenesisCard): string | undefined => {
  const {
    cluster: { membership, founding },
  } = step.state;
  const { settings } = step.context;
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

/** Why no cluster is founded, or none that this peer belongs to: for its operator. */
export const noteFault = (step: Step, peerId: PeerId, fault: string): void => {
  const {
    cluster: { founding },
  } = step.state;
  // Strangers may invent ids; these must not take up room for the expected peers.
  const isExpected = step.state.cluster.peer?.peerId === peerId || step.context.settings.peers.includes(peerId);
  if (founding.faults.get(peerId) === fault || (!isExpected && founding.faults.size >= Limits.members)) return;
  step.draft("cluster").founding = { ...founding, faults: new Map(founding.faults).set(peerId, fault) };
};

export const onGenesisCard = (step: Step, from: PeerId, { card, mac }: MessageOf<"GenesisCard">): void => {
  const { crypto, settings } = step.context;
  const {
    cluster: { peer, founding, pinned, membership },
  } = step.state;
  if (peer === undefined || from !== card.peerId) return;
  // A member whose disk is from before the founding. It needs no secret, and nobody has one any more.
  const isMember = membership?.keys.get(from) === card.identityKey;
  // Without a secret nobody can be refused; but a peer whose key is not the pinned one can see that for itself.
  // Nor does a target of a promotion ever have one.
  const isTargets = mac === undefined && pinned?.topology.prevDigest !== undefined;
  const isShown = isMember || settings.bootstrapSecret === undefined || isTargets;
  if (pinned !== undefined && isShown) return showPinned(step, from, pinned);
  if (isTarget(step) || settings.bootstrapSecret === undefined) return;
  if (mac === undefined || !isCardMac(crypto, settings.bootstrapSecret, card, mac))
    // Anybody may write a number on a card; a peer that has shown a good card is not blamed for a bad one.
    return founding.cards.has(from) || pinned !== undefined
      ? undefined
      : noteFault(step, from, `peer ${from} does not know this cluster's bootstrap secret`);
  const reason = cardFault(step, peer, card);
  if (reason !== undefined) {
    noteFault(step, from, reason);
    const own = ownCard(step, peer);
    return step.send(from, {
      _tag: "GenesisRefused",
      card: own,
      mac: cardMac(crypto, settings.bootstrapSecret, own),
      reason,
    });
  }
  if (!founding.cards.has(from)) {
    const faults = new Map(founding.faults);
    faults.delete(from);
    step.draft("cluster").founding = { ...founding, cards: new Map(founding.cards).set(from, card), faults };
  }
  castVote(step);
};

/** The topology that this peer has pinned, with whatever it takes to believe it. */
const showPinned = (step: Step, to: PeerId, pinned: Rows["topology"]): void => {
  const told = decisionTold(step);
  step.send(to, told ?? { _tag: "GenesisPinned", pinned });
};

export const onGenesisRefused = (
  step: Step,
  from: PeerId,
  { card, mac, reason }: MessageOf<"GenesisRefused">,
): void => {
  const { crypto, settings } = step.context;
  if (step.state.cluster.membership !== undefined || settings.bootstrapSecret === undefined || from !== card.peerId)
    return;
  if (isCardMac(crypto, settings.bootstrapSecret, card, mac)) noteFault(step, from, `peer ${from} refused: ${reason}`);
};

/** Signs the topology that a full set of cards makes, once in this peer's incarnation. */
const castVote = (step: Step): void => {
  const {
    cluster: { founding },
  } = step.state;
  const { crypto, signer } = step.context;
  const peer = foundingPeer(step);
  if (peer === undefined || signer === undefined || isTarget(step)) return;
  if (founding.vote !== undefined || founding.cards.size !== peer.total) return;
  const topology = firstTopology(crypto, [...founding.cards.values()]);
  const digest = topologyDigest(crypto, topology);
  const signature = signer.sign(TOPOLOGY_TAG, topologyCodec, topology);
  step.write({ op: "insert", table: "genesis", key: SELF, row: { topology, signature } });
  step.draft("cluster").founding = {
    ...step.state.cluster.founding,
    vote: { topology, signature, digest },
    signatures: new Map(founding.signatures).set(peer.peerId, signature),
  };
  step.sendAll({ _tag: "GenesisVote", topologyDigest: digest, signature }, step.context.settings.peers);
  pinWhenComplete(step, topology);
};

export const onGenesisVote = (step: Step, from: PeerId, message: MessageOf<"GenesisVote">): void => {
  const {
    cluster: { founding, membership, pinned },
  } = step.state;
  if (membership !== undefined) {
    if (pinned !== undefined && membership.digest === message.topologyDigest) showPinned(step, from, pinned);
    return;
  }
  const { vote } = founding;
  const member = vote?.topology.members.find((each) => each.peerId === from);
  if (vote === undefined || foundingPeer(step) === undefined) return;
  if (member === undefined || vote.digest !== message.topologyDigest)
    return noteFault(step, from, `peer ${from} signed another topology: initialize again whichever was wrong`);
  if (!step.context.crypto.verify(member.identityKey, TOPOLOGY_TAG, topologyCodec, vote.topology, message.signature))
    return;
  step.draft("cluster").founding = {
    ...founding,
    signatures: new Map(founding.signatures).set(from, message.signature),
  };
  pinWhenComplete(step, vote.topology);
};

/** What a peer is shown that is not the one that the cluster was founded with. */
export const shownWithoutThis = (from: PeerId, self: PeerId): string =>
  `peer ${from} shows a cluster that was founded with another key for peer ${self}: this one was wiped, or initialized again`;

export const onGenesisPinned = (step: Step, from: PeerId, { pinned }: MessageOf<"GenesisPinned">): void => {
  const { vote } = step.state.cluster.founding;
  const { crypto } = step.context;
  const peer = foundingPeer(step);
  if (peer === undefined) return;
  const { topology, signatures } = pinned;
  // A later epoch cannot be believed without those before it (PromotionTarget.ts).
  if (topology.prevDigest !== undefined) return;
  if (vote !== undefined && topologyDigest(crypto, topology) !== vote.digest) return;
  const place = topology.members.findIndex(({ peerId }) => peerId === peer.peerId);
  const signature = signatures[place];
  if (signature === undefined || !isPinnedByAll(crypto, pinned)) return;
  if (topology.members[place]?.identityKey !== peer.identityKey)
    return noteFault(step, from, shownWithoutThis(from, peer.peerId));
  // A topology with its own signature has its vote, whether the peer remembers it or not.
  if (vote === undefined) step.write({ op: "insert", table: "genesis", key: SELF, row: { topology, signature } });
  pin(step, pinned);
};

const pinWhenComplete = (step: Step, topology: Topology): void => {
  const { signatures } = step.state.cluster.founding;
  const inOrder = topology.members.flatMap(({ peerId }): ReadonlyArray<Signature> => {
    const own = signatures.get(peerId);
    return own === undefined ? [] : [own];
  });
  if (inOrder.length === topology.members.length) pin(step, { topology, signatures: inOrder });
};

/** The epoch before a topology, which a peer that becomes a member has to know. */
interface Earlier {
  readonly previous: Rows["topology"];
  readonly membership: Membership;
}

export const pin = (step: Step, pinned: Rows["topology"], earlier?: Earlier): void => {
  const membership = membershipOf(step.context.crypto, pinned.topology, earlier?.membership);
  step.draft("cluster").membership = membership;
  step.draft("cluster").pinned = pinned;
  step.draft("cluster").founding = { cards: new Map(), vote: undefined, signatures: new Map(), faults: new Map() };
  // The chain of statement batches starts at the topology it votes under.
  step.draft("signed").chain = { incarnation: FIRST_INCARNATION, batchNo: 0, hash: membership.digest };
  step.write({ op: "insert", table: "topology", key: SELF, row: pinned });
  if (earlier !== undefined) {
    const { epoch } = earlier.membership.topology;
    step.write({ op: "insert", table: "epochs", key: numberKey(epoch), row: earlier.previous });
  }
  for (const peerId of step.others) {
    const row = { peerId, incarnation: FIRST_INCARNATION, newest: undefined, restored: undefined };
    step.edit("signed", "seen").set(peerId, row);
    step.write({ op: "insert", table: "seen", key: numberKey(peerId), row });
  }
  auditFounding(step, membership);
  if (earlier === undefined) step.sendAll({ _tag: "GenesisPinned", pinned });
  // A disk from before the topology looks like one that never had it.
  beginJoining(step);
  beginDeclared(step);
};
