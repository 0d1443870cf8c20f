/**
 * A peer that waits to become a member of a promoted instance's cluster. It accepts only from the source that its
 * operator has named, only while it belongs to nothing, and one draft for ever; the decision makes it a member that
 * takes the registry like a restored one, page by page, and verifies all of it (protocol.md 4g, P2 and P4; S26, S27).
 */
import type { Signature } from "../base/Digest.ts";
import { auditPromotion } from "./Audit.ts";
import { noteFault, pin, shownWithoutThis } from "./Genesis.ts";
import { continues, type Draft, isDecision, topologyOf, transferIdOf } from "./PromotionDraft.ts";
import type { PromotionMessageOf } from "./PromotionMessages.ts";
import { promotionTables } from "./PromotionState.ts";
import { decisionTold, ownKey, tell } from "./PromotionTold.ts";
import { SELF } from "./Tables.ts";
import type { Step } from "./Step.ts";
import {
  membershipOf,
  type PeerId,
  type PinnedTopology,
  TOPOLOGY_TAG,
  topologyCodec,
  topologyDigest,
} from "./Topology.ts";

type Offered = Pick<Draft, "members" | "threshold" | "development">;

/** Why this peer would not become a member like that, whoever asks; undefined where it would. */
const faultOf = (step: Step, from: PeerId, identityKey: string, offered: Offered): string | undefined => {
  const { joins, development } = step.context.settings;
  const { peer, membership, founding, promotion } = step.state.cluster;
  const { members, threshold } = offered;
  if (joins === undefined) return "its configuration names no source that it may be promoted by";
  if (joins.peerId !== from || joins.identityKey !== identityKey)
    return `its configuration names peer ${joins.peerId} as the source, and a key that is not the sender's`;
  if (membership !== undefined) return "it belongs to a cluster already";
  if (promotion.bound !== undefined) return `it is bound to the promotion ${promotion.bound.transferId}, for ever`;
  if (founding.vote !== undefined) return "it has signed for another cluster: initialize it again";
  if (!members.some((each) => each.peerId === step.self && each.identityKey === peer?.identityKey))
    return "the plan gives it another id or another identity key";
  if (peer?.total !== members.length) return `it was initialized with the total ${peer?.total ?? 0}`;
  if (peer.threshold !== threshold) return `it was initialized with the threshold ${peer.threshold}`;
  if (offered.development !== development) return "only one of it and the source is a development peer";
  return undefined;
};

/** Whoever asks for a promotion that this peer is a member by has forgotten that it decided. */
const remind = (step: Step, from: PeerId): void => {
  const told = decisionTold(step);
  if (told?.draft.source === from) tell(step, told, [from]);
};

/** P0: says whether it would accept; nothing is written. */
export const onAsk = (
  step: Step,
  from: PeerId,
  { identityKey: key, nonce, configDigest, ...offered }: PromotionMessageOf<"Promotion.Ask">,
): void => {
  const identityKey = ownKey(step);
  if (identityKey === undefined) return;
  remind(step, from);
  const differs = configDigest === step.context.settings.configDigest ? undefined : "its cluster configuration differs";
  const fault = faultOf(step, from, key, offered) ?? differs;
  tell(step, { _tag: "Promotion.Standing", identityKey, nonce, fault }, [from]);
};

/** P2: binds itself to the draft, and answers a repeated one with the same signature. */
export const onDraft = (
  step: Step,
  from: PeerId,
  { identityKey: key, draft, previous }: PromotionMessageOf<"Promotion.Draft">,
): void => {
  const identityKey = ownKey(step);
  const { crypto, signer } = step.context;
  if (identityKey === undefined || signer === undefined) return;
  const transferId = transferIdOf(crypto, draft);
  const { promotion, founding, membership } = step.state.cluster;
  remind(step, from);
  if (promotion.bound?.transferId === transferId) {
    if (founding.vote !== undefined && membership === undefined)
      tell(step, { _tag: "Promotion.Accepted", identityKey, transferId, signature: founding.vote.signature }, [from]);
    return;
  }
  const fault = faultOf(step, from, key, draft) ?? draftFault(step, from, key, draft, previous);
  if (fault !== undefined) {
    // The source knows this peer by the key of its draft only; here an operator finds the same. A member has nothing to
    // mend, and nothing would take the words back.
    if (membership === undefined && step.context.settings.joins?.identityKey === key)
      noteFault(step, from, `peer ${from} offers a promotion: ${fault}`);
    return tell(step, { _tag: "Promotion.Refused", identityKey, transferId, fault }, [from]);
  }
  const topology = topologyOf(crypto, draft);
  const signature = signer.sign(TOPOLOGY_TAG, topologyCodec, topology);
  bind(step, draft, previous, signature);
  tell(step, { _tag: "Promotion.Accepted", identityKey, transferId, signature }, [from]);
};

const draftFault = (
  step: Step,
  from: PeerId,
  key: string,
  draft: Draft,
  previous: PinnedTopology,
): string | undefined => {
  if (draft.source !== from || !continues(step.context.crypto, draft, previous)) return "the draft does not hold";
  if (previous.topology.members[0]?.identityKey !== key) return "the draft is not of its sender's instance";
  return undefined;
};

/** The one signature of this peer under a topology, and the one draft, for ever. */
const bind = (step: Step, draft: Draft, previous: PinnedTopology, signature: Signature): void => {
  const { crypto } = step.context;
  const { founding } = step.state.cluster;
  const topology = topologyOf(crypto, draft);
  const transferId = transferIdOf(crypto, draft);
  if (founding.vote === undefined) {
    step.write({ op: "insert", table: "genesis", key: SELF, row: { topology, signature } });
    step.draft("cluster").founding = {
      ...founding,
      vote: { topology, signature, digest: topologyDigest(crypto, topology) },
    };
  }
  step.rows(promotionTables).put("transfer", SELF, { draft, previous });
  step.draft("cluster").promotion = {
    ...step.state.cluster.promotion,
    bound: { draft, previous, transferId },
  };
  auditPromotion(step, "PROMOTION_ACCEPTED", transferId, draft.members);
};

/**
 * P4: a peer that belongs to nothing becomes a member, and takes the registry. Whether or not it remembers its
 * signature, that is in the decision: a peer that was put back from a backup comes in the same way.
 */
export const install = (
  step: Step,
  from: PeerId,
  { draft, previous, pinned }: PromotionMessageOf<"Promotion.Decided">,
): void => {
  const { crypto } = step.context;
  const { peer, founding, promotion } = step.state.cluster;
  const { topology } = pinned;
  const place = topology.members.findIndex(({ peerId }) => peerId === step.self);
  const signature = pinned.signatures[place];
  if (signature === undefined || peer === undefined) return;
  if (!continues(crypto, draft, previous) || !isDecision(crypto, draft, pinned)) return;
  if (topology.members[place]?.identityKey !== peer.identityKey) {
    // Anybody can make such a decision: only the named source is believed in this.
    if (step.context.settings.joins?.identityKey === previous.topology.members[0]?.identityKey)
      noteFault(step, from, shownWithoutThis(from, peer.peerId));
    return;
  }
  if (founding.vote !== undefined && founding.vote.digest !== topologyDigest(crypto, topology)) return;
  if (promotion.bound === undefined) bind(step, draft, previous, signature);
  // Nothing of the registry is here yet: it is taken as after a restore, from whoever has it.
  step.draft("rejoining").isDeclared = true;
  pin(step, pinned, { previous, membership: membershipOf(crypto, previous.topology) });
};

/** Tells the source that the registry is here as a whole, and flushed. */
export const sayInstalled = (step: Step, from: PeerId, { draft }: PromotionMessageOf<"Promotion.Decided">): void => {
  const identityKey = ownKey(step);
  const transferId = transferIdOf(step.context.crypto, draft);
  if (identityKey === undefined || step.membership.topology.transferId !== transferId) return;
  if (step.mode !== "active" && step.mode !== "joining") return;
  tell(step, { _tag: "Promotion.Installed", identityKey, transferId }, [from]);
};
