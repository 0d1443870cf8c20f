/** An instance that is alone, and peers that wait to become a cluster with it. */
import { expect } from "vitest";
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import type { Digest } from "../../core/base/Digest.ts";
import type { Message } from "../../core/Message.ts";
import { modeOf } from "../../core/protocol/Mode.ts";
import { transferIdOf } from "../../core/protocol/PromotionDraft.ts";
import type { PromotionPlan } from "../../core/protocol/PromotionPlan.ts";
import type { Promotion, Stage } from "../../core/protocol/PromotionState.ts";
import { promotionStatus, type PromotionStatus } from "../../core/protocol/PromotionStatus.ts";
import type { Settings } from "../../core/protocol/Event.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { actor, Cluster, crypto, NOW } from "./Cluster.ts";
import { keyOf } from "./Crypto.ts";
import { stateOf } from "./Restoring.ts";

const keyWith = (seed: number) => keyOf(new Uint8Array(32).fill(seed)).publicKey;

/** Who may promote a registry with approvers in it. */
export const promoter: ActorCheck = {
  _tag: "Verified",
  claims: {
    iss: undefined,
    sub: "operator",
    jti: undefined,
    audience: ["custody"],
    expiresAt: NOW + 3_600_000,
    notBefore: undefined,
    issuedAt: undefined,
    permissions: ["service.system.promote", "service.approvers.register", "service.approvers.metadata"],
  },
};

/** The same bearer without one permission. */
export const promoterWithout = (permission: string): ActorCheck =>
  promoter._tag === "Verified"
    ? {
        ...promoter,
        claims: { ...promoter.claims, permissions: promoter.claims.permissions.filter((each) => each !== permission) },
      }
    : promoter;

/** `total` peers, of which the source is alone and the others wait for it. */
export const beforePromotion = (
  source: PeerId = 2,
  total = 3,
  override: (peerId: PeerId) => Partial<Settings> = () => ({}),
): Cluster => {
  const cluster = new Cluster(
    total,
    (peerId) => ({
      ...(peerId === source ? {} : { joins: { peerId: source, identityKey: keyWith(source) } }),
      ...override(peerId),
    }),
    total,
    (peerId) => (peerId === source ? 1 : total),
  );
  cluster.judge = () => actor;
  cluster.pass(100);
  return cluster;
};

export const planOf = (total = 3, threshold = 2): PromotionPlan => ({
  members: Array.from({ length: total }, (_, index) => ({ peerId: index + 1, identityKey: keyWith(index + 1) })),
  threshold,
});

/** Asks for a promotion; the answer is in `cluster.answers`. */
export const promote = (
  cluster: Cluster,
  requestId = "promote",
  plan = planOf(),
  { source = 2, dryRun = false, bearer = promoter }: { source?: PeerId; dryRun?: boolean; bearer?: ActorCheck } = {},
): void => cluster.dispatch(source, { _tag: "Promote", requestId, plan, actor: bearer, dryRun });

/** What a request for a promotion was answered; undefined where it was refused, or found nothing to refuse. */
export const answeredWith = (cluster: Cluster, requestId = "promote"): PromotionStatus | undefined => {
  const answer = cluster.answers.get(requestId);
  return answer?._tag === "Promotion" ? answer.promotion : undefined;
};

/** What a source of two peers has pinned. */
export const draftOf = (stage: Stage): NonNullable<Promotion["own"]> => {
  const digest = "ab".repeat(32) as Digest;
  const draft = {
    version: 3,
    clusterId: digest,
    source: 2,
    oldDigest: digest,
    epoch: 2,
    members: planOf().members,
    threshold: 2,
    development: true,
    firstSlot: 4,
    root: digest,
    approvers: 3,
    principalDigest: digest,
    nonce: digest,
  };
  return { draft, stage, transferId: transferIdOf(crypto, draft) };
};

export const modesOf = (cluster: Cluster): ReadonlyArray<string> =>
  [1, 2, 3].map((peerId) => modeOf(stateOf(cluster, peerId)));

export const stageAt = (cluster: Cluster, peerId: number): string | undefined =>
  promotionStatus(stateOf(cluster, peerId))?.stage;

/** A source with an approver, and two peers that wait. */
export const withApprover = (): Cluster => {
  const cluster = beforePromotion();
  cluster.register(2, "first", "alice", 1);
  cluster.pass(500);
  return cluster;
};

/** Messages of these kinds are lost. */
export const lost =
  (...tags: ReadonlyArray<Message["_tag"]>) =>
  (_from: number, _to: number, message: Message) =>
    tags.includes(message._tag) ? undefined : message;

export const expectDone = (cluster: Cluster, approvers = 1): void => {
  expect(modesOf(cluster)).toEqual(["active", "active", "active"]);
  for (const peerId of [1, 2, 3]) expect(stateOf(cluster, peerId).registry.approvers).toBe(approvers);
  expect(stageAt(cluster, 2)).toBe("DONE");
};
