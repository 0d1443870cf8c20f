/**
 * An instance that no operator has named offers a target a promotion of its own, in the name of the source: a draft that
 * holds in every part, and a decision for which it has signed in every member's place.
 */
import type { Message } from "../../core/Message.ts";
import { type Draft, topologyOf } from "../../core/protocol/PromotionDraft.ts";
import { type Topology, TOPOLOGY_TAG, topologyCodec, topologyDigest } from "../../core/protocol/Topology.ts";
import type { Unit } from "../base/Choices.ts";
import { thresholdOf } from "../world/Operators.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { World } from "../world/World.ts";

const kinds = ["Promotion.Draft", "Promotion.Ask", "Promotion.Decided"] as const;

const offered = (world: World, unit: Unit, source: SimPeer): Message => {
  const { crypto } = world.cryptography;
  const { identity } = world.strangerKeys;
  const { development, configDigest } = source.settings;
  const version = source.composition.versions.highest;
  const signed = (topology: Topology) => ({
    topology,
    signatures: topology.members.map(() => identity.sign(TOPOLOGY_TAG, topologyCodec, topology)),
  });
  const previous = signed({
    version,
    clusterId: world.entropy.digest(),
    epoch: 1,
    members: [{ peerId: source.peerId, identityKey: identity.publicKey, shareIndex: 1 }],
    threshold: 1,
    prevDigest: undefined,
    development,
    firstSlot: 1,
    transferId: undefined,
  });
  const members = world.peers.map(({ peerId, keys }) => ({
    peerId,
    identityKey: peerId === source.peerId ? identity.publicKey : keys.identity.publicKey,
  }));
  const draft: Draft = {
    version,
    clusterId: previous.topology.clusterId,
    source: source.peerId,
    oldDigest: topologyDigest(crypto, previous.topology),
    epoch: 2,
    members,
    threshold: thresholdOf(members.length),
    development,
    firstSlot: 1,
    root: crypto.setDigest(crypto.emptySet),
    approvers: 0,
    principalDigest: world.entropy.digest(),
    nonce: world.entropy.digest(),
  };
  const shown = { identityKey: identity.publicKey };
  const kind = unit.named("says", "Promotion.Draft", kinds, [3, 1, 1]);
  if (kind === "Promotion.Draft") return { _tag: kind, ...shown, draft, previous };
  if (kind === "Promotion.Decided")
    return { _tag: kind, ...shown, draft, previous, pinned: signed(topologyOf(crypto, draft)) };
  const { nonce, threshold } = draft;
  return { _tag: kind, ...shown, nonce, members, threshold, development, configDigest };
};

/** Says so to a target; the source has to run, for the name. */
export const foreignDraft = (world: World, unit: Unit, source: SimPeer, to: number): void => {
  const { state } = source;
  if (state === undefined) return;
  const message = offered(world, unit, source);
  const packet = world.cryptography.wire.seal(
    state,
    world.strangerKeys.identity,
    () => world.entropy.digest(),
    to,
    message,
  );
  if (packet === undefined) return;
  world.marks.add("a stranger offered a promotion");
  world.mail.transmit(to, packet, 500, { from: source.slot, message, how: "forged" });
};
