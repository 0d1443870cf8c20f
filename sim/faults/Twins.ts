/** Drafts of promotions that a liar has made up, and what it signs of them. */
import { absurd } from "effect";
import type { Signature } from "../../core/base/Digest.ts";
import { type Draft, topologyOf, transferIdOf } from "../../core/protocol/PromotionDraft.ts";
import type { PromotionMessageOf } from "../../core/protocol/PromotionMessages.ts";
import { type PinnedTopology, type Topology, TOPOLOGY_TAG, topologyCodec } from "../../core/protocol/Topology.ts";
import type { Traitor } from "./Traitor.ts";

const changes = ["another request", "another registry", "another slot", "another quorum", "fewer members"] as const;

/** Another draft of the same promotion, such as its members would accept alone. */
export const twinOf = (traitor: Traitor, draft: Draft): Draft => {
  const { entropy } = traitor.world;
  const { members, source } = draft;
  const change = traitor.next().named("differs in", "another request", changes, [3, 3, 2, 1, 1]);
  switch (change) {
    case "another registry":
      return { ...draft, root: entropy.digest() };
    case "another slot":
      return { ...draft, firstSlot: draft.firstSlot + 1 };
    case "another quorum":
      return { ...draft, threshold: draft.threshold === members.length ? 2 : members.length };
    case "fewer members": {
      const left = members.filter(({ peerId }) => peerId !== source).slice(1);
      return { ...draft, members: members.filter((each) => each.peerId === source || left.includes(each)) };
    }
    case "another request":
      return { ...draft, nonce: entropy.digest() };
    default:
      return absurd(change);
  }
};

export const transferOf = ({ world }: Traitor, draft: Draft) => transferIdOf(world.cryptography.crypto, draft);

export const signatureUnder = ({ peer }: Traitor, topology: Topology): Signature =>
  peer.keys.identity.sign(TOPOLOGY_TAG, topologyCodec, topology);

/** A topology with the liar's own signature in its place, or wherever there is none. */
export const signedByLiar = (
  traitor: Traitor,
  topology: Topology,
  signatureOf: (peerId: number, index: number) => Signature | undefined,
): PinnedTopology => ({
  topology,
  signatures: topology.members.map(({ peerId }, index) => {
    const theirs = peerId === traitor.peer.peerId ? undefined : signatureOf(peerId, index);
    return theirs ?? signatureUnder(traitor, topology);
  }),
});

export const draftTopology = ({ world }: Traitor, draft: Draft): Topology =>
  topologyOf(world.cryptography.crypto, draft);

export type Decided = PromotionMessageOf<"Promotion.Decided">;

/** The topology of another draft than was signed, with the signatures that there are. */
export const decidedAnew = (traitor: Traitor, { draft, pinned }: Decided): PinnedTopology =>
  signedByLiar(traitor, draftTopology(traitor, draft), (_peerId, index) => pinned.signatures[index]);

/** A topology of a promotion in other words; one of a founding is made of cards, and stays as it is. */
export const pinnedAnew = (traitor: Traitor, pinned: PinnedTopology): PinnedTopology =>
  pinned.topology.transferId === undefined
    ? pinned
    : signedByLiar(traitor, pinned.topology, (_peerId, index) => pinned.signatures[index]);
