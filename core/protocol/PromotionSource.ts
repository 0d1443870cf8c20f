/**
 * The mono instance that is promoted. It pins one draft, for ever; has every target accept it; decides, which is the one
 * moment at which the old epoch ends and the new one begins; and takes part again when every target has the whole
 * registry. There is no way back from a pinned draft: all of this is repeated until it is done (protocol.md 4g; S20, S27).
 */
import { absurd } from "effect";
import { withEntry } from "../base/Copies.ts";
import type { Signature } from "../base/Digest.ts";
import { auditPromotion } from "./Audit.ts";
import { introduceAgain } from "./Genesis.ts";
import { beginJoining } from "./Joining.ts";
import { forgetPendingCallers } from "./PendingCallers.ts";
import { continues, type Draft, isDecision, topologyOf, transferIdOf } from "./PromotionDraft.ts";
import type { PromotionMessageOf } from "./PromotionMessages.ts";
import { type Inquiry, type Promotion, promotionTables, type Stage } from "./PromotionState.ts";
import { decisionTold, ownKey, tell } from "./PromotionTold.ts";
import { type Actor, actorCodec } from "./Proposal.ts";
import { PROMOTED } from "./Readiness.ts";
import { FIRST_INCARNATION } from "./SignedState.ts";
import type { Step } from "./Step.ts";
import { numberKey, SELF } from "./Tables.ts";
import { membershipOf, type PeerId, type PinnedTopology, TOPOLOGY_TAG, topologyCodec } from "./Topology.ts";
import { askWitnesses } from "./Witnesses.ts";

export const PROMOTION_TIMER = "Promotion.again";
export const PROMOTION_AGAIN_MILLIS = 500;
/** How often an instance that is alone asks the peers of its configuration whether it was promoted once. */
const ASK_MILLIS = 2_000;

const PRINCIPAL_TAG = "CUSTODY_PRINCIPAL_V1";

type Own = NonNullable<Promotion["own"]>;

const change = (step: Step, to: Partial<Promotion>): void => {
  step.draft("cluster").promotion = { ...step.state.cluster.promotion, ...to };
};

const store = (step: Step, draft: Draft, stage: Stage): void => {
  const transferId = transferIdOf(step.context.crypto, draft);
  change(step, { own: { draft, stage, transferId } });
  step.rows(promotionTables).put("promotion", SELF, { draft, stage });
};

/** Whether nothing is under way that could still change the registry. */
export const isSettled = ({ state: { undecided } }: Step): boolean =>
  undecided.preparations.size + undecided.refused.size + undecided.aborting.size + undecided.rounds.size === 0 &&
  undecided.outbox.size === undecided.prunable;

/** A target that lies may refuse without a word; operators are told that. */
const NO_REASON = "it gives no reason";

/** P1: the draft is flushed before any target sees it, and changes are refused from now on. */
export const pin = (step: Step, { plan, nonce }: Inquiry, actor: Actor): void => {
  const { crypto, commands } = step.context;
  const { topology, digest } = step.membership;
  const { registry, undecided } = step.state;
  const draft: Draft = {
    version: commands.versions.highest,
    clusterId: topology.clusterId,
    source: step.self,
    oldDigest: digest,
    epoch: topology.epoch + 1,
    members: plan.members,
    threshold: plan.threshold,
    development: topology.development,
    firstSlot: Math.max(topology.firstSlot, undecided.highSeq + 1),
    root: crypto.setDigest(registry.set),
    approvers: registry.approvers,
    principalDigest: crypto.digest(PRINCIPAL_TAG, actorCodec, actor),
    nonce,
  };
  store(step, draft, "PINNED");
  auditPromotion(step, "PROMOTION_PINNED", transferIdOf(crypto, draft), draft.members, actor);
  step.draft("probing").verdict = undefined;
  tellAll(step);
};

const targetsOf = (step: Step, { draft }: Own): ReadonlyArray<PeerId> =>
  draft.members.flatMap(({ peerId }) => (peerId === step.self ? [] : [peerId]));

/** Tells every target what it has not confirmed yet, and makes sure that this is repeated. */
const tellAll = (step: Step): void => {
  const { own, accepted, installed } = step.state.cluster.promotion;
  const identityKey = ownKey(step);
  if (own === undefined || identityKey === undefined) return;
  const targets = targetsOf(step, own);
  switch (own.stage) {
    case "PINNED": {
      const { pinned: previous } = step.state.cluster;
      const missing = targets.filter((peerId) => !accepted.has(peerId));
      if (previous !== undefined)
        tell(step, { _tag: "Promotion.Draft", identityKey, draft: own.draft, previous }, missing);
      return step.arm(PROMOTION_TIMER, PROMOTION_AGAIN_MILLIS);
    }
    case "DECIDED": {
      const told = decisionTold(step);
      const missing = targets.filter((peerId) => !installed.has(peerId));
      if (told !== undefined) tell(step, told, missing);
      return step.arm(PROMOTION_TIMER, PROMOTION_AGAIN_MILLIS);
    }
    case "DONE":
      return;
    default:
      return absurd(own.stage);
  }
};

/** P2, from a target: with the signatures of all, this peer decides. */
export const onAccepted = (
  step: Step,
  from: PeerId,
  { identityKey, transferId, signature }: PromotionMessageOf<"Promotion.Accepted">,
): void => {
  const own = pinnedFor(step, from, identityKey, transferId);
  if (own === undefined) return;
  const { crypto } = step.context;
  const topology = topologyOf(crypto, own.draft);
  if (!crypto.verify(identityKey, TOPOLOGY_TAG, topologyCodec, topology, signature)) return;
  const { accepted, refused } = step.state.cluster.promotion;
  const doubts = new Map(refused);
  doubts.delete(from);
  change(step, { accepted: withEntry(accepted, from, signature), refused: doubts });
  decideWhenComplete(step, own);
};

export const onRefused = (
  step: Step,
  from: PeerId,
  { identityKey, transferId, fault }: PromotionMessageOf<"Promotion.Refused">,
): void => {
  if (pinnedFor(step, from, identityKey, transferId) === undefined) return;
  const { refused, accepted } = step.state.cluster.promotion;
  if (!accepted.has(from)) change(step, { refused: withEntry(refused, from, fault || NO_REASON) });
};

/** The pinned draft that a target of it speaks of. */
const pinnedFor = (step: Step, from: PeerId, identityKey: string, transferId: string): Own | undefined => {
  const { own } = step.state.cluster.promotion;
  if (own?.stage !== "PINNED" || own.transferId !== transferId || from === step.self) return undefined;
  return own.draft.members.some((each) => each.peerId === from && each.identityKey === identityKey) ? own : undefined;
};

const decideWhenComplete = (step: Step, own: Own): void => {
  const { accepted } = step.state.cluster.promotion;
  const { crypto, signer } = step.context;
  if (signer === undefined) return;
  const topology = topologyOf(crypto, own.draft);
  const signatures = topology.members.flatMap(({ peerId }): ReadonlyArray<Signature> => {
    const signature = peerId === step.self ? signer.sign(TOPOLOGY_TAG, topologyCodec, topology) : accepted.get(peerId);
    return signature === undefined ? [] : [signature];
  });
  if (signatures.length === topology.members.length) decide(step, own.draft, { topology, signatures });
};

/** P3, the commit point: from this flush on the old epoch decides nothing more. */
const decide = (step: Step, draft: Draft, pinned: PinnedTopology): void => {
  const { cluster } = step.state;
  const { crypto } = step.context;
  const previous = cluster.pinned;
  if (cluster.peer === undefined || previous === undefined) return;
  forgetPendingCallers(step, PROMOTED);
  const before = step.membership;
  const peer = { ...cluster.peer, threshold: draft.threshold, total: draft.members.length };
  step.write({ op: "insert", table: "epochs", key: numberKey(before.topology.epoch), row: previous });
  step.write({ op: "replace", table: "topology", key: SELF, row: pinned });
  step.write({ op: "replace", table: "peer", key: SELF, row: peer });
  const now = step.draft("cluster");
  now.peer = peer;
  now.pinned = pinned;
  now.membership = membershipOf(crypto, pinned.topology, before);
  for (const peerId of step.others) {
    const row = { peerId, incarnation: FIRST_INCARNATION, newest: undefined, restored: undefined };
    step.edit("signed", "seen").set(peerId, row);
    step.write({ op: "insert", table: "seen", key: numberKey(peerId), row });
  }
  store(step, draft, "DECIDED");
  change(step, { accepted: new Map(), refused: new Map(), installed: new Set(), witnesses: undefined });
  auditPromotion(step, "PROMOTION_DECIDED", transferIdOf(crypto, draft), draft.members);
  // Targets that were installed in the time of a newer disk of this peer show it what it has forgotten.
  beginJoining(step);
  tellAll(step);
};

/** P4, from a target: it has the whole registry. */
export const onInstalled = (
  step: Step,
  from: PeerId,
  { identityKey, transferId }: PromotionMessageOf<"Promotion.Installed">,
): void => {
  const { own, installed } = step.state.cluster.promotion;
  if (own?.stage !== "DECIDED" || own.transferId !== transferId || from === step.self) return;
  if (step.membership.keys.get(from) !== identityKey) return;
  change(step, { installed: new Set([...installed, from]) });
  finishPromotion(step);
};

/** P5, once every target has the registry, and has shown that this peer's memory is whole. */
export const finishPromotion = (step: Step): void => {
  const { own, installed } = step.state.cluster.promotion;
  if (own === undefined || step.mode !== "promoting" || step.state.rejoining.unproven.size > 0) return;
  if (step.others.some((peerId) => !installed.has(peerId))) return;
  store(step, own.draft, "DONE");
  auditPromotion(step, "PROMOTION_DONE", own.transferId, own.draft.members);
};

/**
 * Somebody shows an instance that is alone a decision of its own: its disk is from before that. It belongs to that
 * cluster, and an operator declares the restore that brings it back.
 */
export const onOwnDecision = (
  step: Step,
  { draft, previous, pinned }: PromotionMessageOf<"Promotion.Decided">,
): void => {
  const { crypto } = step.context;
  if (step.membership.peerIds.length > 1 || draft.source !== step.self) return;
  if (draft.oldDigest !== step.membership.digest || !continues(crypto, draft, previous)) return;
  if (!isDecision(crypto, draft, pinned)) return;
  decide(step, draft, pinned);
  step.quarantine(`this peer decided the promotion ${transferIdOf(crypto, draft)} and does not remember it`);
};

const isAlone = ({ state, context }: Step): boolean =>
  state.cluster.membership?.peerIds.length === 1 && context.settings.peers.length > 0;

/** Goes on with what was pinned, after an unseal and at every timer. */
export const goOnPromoting = (step: Step): void => {
  const { own } = step.state.cluster.promotion;
  // A restore of this peer may have been all that was left to wait for.
  finishPromotion(step);
  if (own !== undefined) return tellAll(step);
  if (!isAlone(step)) return;
  introduceAgain(step);
  step.arm(PROMOTION_TIMER, askWitnesses(step) ? PROMOTION_AGAIN_MILLIS : ASK_MILLIS);
};
