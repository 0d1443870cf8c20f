/** What operators are told about a promotion: plain data, computed from the published state alone. */
import type { Digest } from "../base/Digest.ts";
import type { MemberFault } from "../base/Rejection.ts";
import { modeOf } from "./Mode.ts";
import type { PeerState } from "./PeerState.ts";
import type { PeerId } from "./Topology.ts";

/**
 * How far it has come. At the source: the draft is pinned; the new epoch has begun; every target has the registry. At a
 * target: it is bound; it belongs to the cluster and takes the registry; it has the whole of it.
 */
export type PromotionStage = "PINNED" | "DECIDED" | "DONE" | "ACCEPTED" | "INSTALLING" | "INSTALLED";

export interface PromotionStatus {
  readonly role: "source" | "target";
  readonly stage: PromotionStage;
  readonly transferId: Digest;
  readonly source: PeerId;
  /** Ascending, the source among them. */
  readonly members: ReadonlyArray<PeerId>;
  readonly threshold: number;
  /** Approvers of the registry that moves. */
  readonly approvers: number;
  /** At the source: targets that have accepted, and that have the whole registry, ascending. */
  readonly accepted: ReadonlyArray<PeerId>;
  readonly installed: ReadonlyArray<PeerId>;
  /** At the source: targets that refuse, and why; each is asked again for ever. */
  readonly refused: ReadonlyArray<MemberFault>;
  /** What it waits for; empty where nothing. */
  readonly waitsFor: string;
}

const waiting = (what: string, peerIds: ReadonlyArray<PeerId>): string =>
  peerIds.length === 0 ? "" : `${peerIds.length === 1 ? "peer" : "peers"} ${peerIds.join(", ")} ${what}`;

const atSource = (state: PeerState): PromotionStatus | undefined => {
  const { own, accepted, installed, refused } = state.cluster.promotion;
  if (own === undefined) return undefined;
  const { draft, stage, transferId } = own;
  const members = draft.members.map(({ peerId }) => peerId);
  const targets = members.filter((peerId) => peerId !== draft.source);
  const have = stage === "PINNED" ? targets.filter((peerId) => accepted.has(peerId)) : targets;
  const done = stage === "DONE" ? targets : targets.filter((peerId) => installed.has(peerId));
  const missing = targets.filter((peerId) => !(stage === "PINNED" ? have : done).includes(peerId));
  const unproven = stage === "DECIDED" && missing.length === 0 ? [...state.rejoining.unproven] : [];
  return {
    role: "source",
    stage,
    transferId,
    source: draft.source,
    members,
    threshold: draft.threshold,
    approvers: draft.approvers,
    accepted: have,
    installed: done,
    refused: [...refused].map(([peerId, reason]) => ({ peerId, reason })),
    waitsFor:
      waiting(stage === "PINNED" ? "to accept" : "to take the registry", missing) ||
      waiting("to show that nothing was forgotten here", unproven),
  };
};

const atTarget = (state: PeerState): PromotionStatus | undefined => {
  const { bound } = state.cluster.promotion;
  if (bound === undefined) return undefined;
  const { draft, transferId } = bound;
  const isMember = state.cluster.membership !== undefined;
  const { recovery } = state.rejoining;
  const mode = modeOf(state);
  const isBehind = recovery !== undefined || mode === "announcing" || mode === "recovering";
  return {
    role: "target",
    stage: !isMember ? "ACCEPTED" : isBehind ? "INSTALLING" : "INSTALLED",
    transferId,
    source: draft.source,
    members: draft.members.map(({ peerId }) => peerId),
    threshold: draft.threshold,
    approvers: draft.approvers,
    accepted: [],
    installed: [],
    refused: [],
    waitsFor: isMember ? (recovery?.waitsFor ?? "") : `peer ${draft.source} to decide`,
  };
};

/** The promotion that this peer has to do with; undefined where there is none. */
export const promotionStatus = (state: PeerState): PromotionStatus | undefined => atSource(state) ?? atTarget(state);
