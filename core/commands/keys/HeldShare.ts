/** This peer's share of a generation: where it belongs, and itself, while a step needs it. */
import type { StepContext } from "../../protocol/Event.ts";
import type { Membership, PeerId } from "../../protocol/Topology.ts";
import type { Secret } from "../../threshold/Secret.ts";
import type { SharePlace } from "../../threshold/Suite.ts";
import type { Element, GroupKey, ShareIndex } from "../../threshold/ThresholdScheme.ts";
import type { Generation } from "./KeyRecord.ts";
import { generationKey, keyRows } from "./Tables.ts";

/** Whether its secret is whole at one peer, which is then alone. */
export const isSolo = ({ group }: Pick<Generation, "group">): boolean => group.verifyingShares.length === 0;

/** The member that was alone before a promotion: keys made then are whole there. None where all began together. */
export const wholeAt = ({ peerIds, before }: Membership): PeerId | undefined =>
  peerIds.length === 1 ? peerIds[0] : before && wholeAt(before);

/** The share index of a member. */
export const shareIndexOf = ({ topology }: Membership, peerId: PeerId): ShareIndex | undefined =>
  topology.members.find((member) => member.peerId === peerId)?.shareIndex;

/** The member that holds the shares of an index. */
export const holderOf = ({ topology }: Membership, index: ShareIndex): PeerId | undefined =>
  topology.members.find((member) => member.shareIndex === index)?.peerId;

/** What everybody knows of the shares of a generation. */
export const groupKeyOf = ({ group }: Pick<Generation, "group">): GroupKey => ({
  threshold: group.threshold,
  // The types are encodings, in which they were stored.
  commitments: group.commitments as ReadonlyArray<Element>,
  verifyingShares: new Map(group.verifyingShares.map(({ index, element }) => [index, element as Element])),
});

/** The place of a member's share; undefined where the generation was made without it. */
export const sharePlace = (
  membership: Membership,
  peerId: PeerId,
  generation: Pick<Generation, "keyId" | "generation" | "transcript" | "publicKey" | "group">,
): SharePlace | undefined => {
  const index = shareIndexOf(membership, peerId);
  const { keyId, transcript, publicKey, group } = generation;
  const verifyingShare = isSolo(generation)
    ? publicKey
    : group.verifyingShares.find((each) => each.index === index)?.element;
  if (verifyingShare === undefined) return undefined;
  const { clusterId } = membership.topology;
  return { clusterId, peerId, keyId, generation: generation.generation, transcript, verifyingShare };
};

/**
 * This peer's share of a generation. It was compared with its verifying share before it was stored, and opens only
 * beside that one, so a share that opens is the one that fits.
 *
 * @returns undefined where there is none, or none that opens here; who calls wipes it when the step is done with it
 */
export const heldShare = (
  { view, shareVault }: Pick<StepContext, "view" | "shareVault">,
  membership: Membership,
  peerId: PeerId,
  generation: Generation,
): Secret | undefined => {
  const place = sharePlace(membership, peerId, generation);
  const row = keyRows(view).get("shares", generationKey(generation.keyId, generation.generation));
  return place === undefined || row === undefined ? undefined : shareVault?.open(place, row.box);
};
