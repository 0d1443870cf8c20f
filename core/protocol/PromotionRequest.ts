/**
 * An operator asks for a promotion. Nothing is durable before every target has said that it would accept, so whatever
 * is in the way is told while the plan can still be changed (protocol.md 4g, P0).
 */
import { Either, Option } from "effect";
import { withEntry } from "../base/Copies.ts";
import { Limits } from "../base/Limits.ts";
import { type MemberFault, type Rejection, rejection } from "../base/Rejection.ts";
import { authorize } from "../auth/Authorization.ts";
import type { Event } from "./Event.ts";
import { freshNonce } from "./Nonces.ts";
import type { PromotionMessageOf } from "./PromotionMessages.ts";
import { inOrder, isSamePlan, planFaults, type PromotionPlan } from "./PromotionPlan.ts";
import { isSettled, PROMOTION_AGAIN_MILLIS, PROMOTION_TIMER, pin } from "./PromotionSource.ts";
import type { Inquiry } from "./PromotionState.ts";
import { promotionStatus } from "./PromotionStatus.ts";
import { ownKey, tell } from "./PromotionTold.ts";
import { notReadyReason, ownReason } from "./Readiness.ts";
import type { Step } from "./Step.ts";
import type { PeerId } from "./Topology.ts";
import { beingVerified, notInitialized, sealed, unavailable } from "./Unavailable.ts";
import { noteWitness } from "./Witnesses.ts";

const PROMOTE_PERMISSION = "service.system.promote";
/** Who promotes a registry with something in it answers for all of it (contract 5.5). */
const REGISTRY_PERMISSIONS = ["service.approvers.register", "service.approvers.metadata"];

type Promote = Extract<Event, { readonly _tag: "Promote" }>;

const members = ({ members: all, threshold }: PromotionPlan): string =>
  `peers ${all.map(({ peerId }) => peerId).join(", ")}, of which ${threshold} sign`;

const another = (what: string): Rejection =>
  rejection(
    "PROMOTION_UNDER_WAY",
    `Another promotion ${what}.`,
    "See its status; a promotion that is pinned is retried until it is done, and no other one can take its place.",
  );

/** Keys that cannot move: listed before anything is pinned. */
const keysInTheWay = (step: Step): Rejection | undefined => {
  const { context } = step;
  const keys = context.commands.modules.flatMap(
    ({ unpromotable }) => unpromotable?.(context, Limits.listedFaults) ?? [],
  );
  if (keys.length === 0) return undefined;
  return rejection(
    "KEYS_NOT_PROMOTABLE",
    `Custody keys of this instance cannot be shared out among members: ${keys.join(", ")}.`,
    "Destroy the named keys first, or make them anew in a cluster of their own; nothing was pinned.",
  );
};

const refusalHere = (step: Step, plan: PromotionPlan): Rejection | undefined => {
  const faults = planFaults(step, plan);
  if (faults.length > 0)
    return rejection("INVALID_REQUEST_BODY", "The plan of the promotion does not fit.", "Correct the named fields.", {
      faults,
    });
  if (step.membership.peerIds.length > 1)
    return rejection(
      "PROMOTION_IMPOSSIBLE",
      "This peer is a member of a cluster; only an instance that is alone can be promoted.",
      "Nothing needs to be done: the members of a cluster stay.",
    );
  // All targets are asked, and whoever knows of a promotion before this one shows it.
  const reason = ownReason(step);
  return reason === undefined ? keysInTheWay(step) : unavailable([{ peerId: step.self, reason }], undefined);
};

const allowed = (step: Step, actor: Promote["actor"]) =>
  [PROMOTE_PERMISSION, ...(step.state.registry.approvers > 0 ? REGISTRY_PERMISSIONS : [])]
    .map((permission) => authorize(step.context, actor, [permission]))
    .reduce((left, right) => (Either.isLeft(left) ? left : right));

const whyNot = (step: Step): Rejection => {
  const { mode } = step;
  if (mode === "blank") return notInitialized;
  if (mode === "sealed") return sealed;
  if (mode === "verifying") return beingVerified;
  const peerId = step.state.cluster.peer?.peerId ?? 0;
  return unavailable([{ peerId, reason: notReadyReason(step) ?? `it is ${mode}` }], undefined);
};

/** Where this peer cannot even be asked. */
export const refusePromotion = (step: Step, requestId: string): void => {
  step.reply(requestId, { _tag: "Rejected", rejection: whyNot(step) });
};

export const onPromote = (step: Step, { requestId, plan: asked, actor: bearer, dryRun }: Promote): void => {
  const refuse = (refused: Rejection): void => step.reply(requestId, { _tag: "Rejected", rejection: refused });
  const claims = allowed(step, bearer);
  if (Either.isLeft(claims)) return refuse(claims.left);
  const plan = inOrder(asked);
  const { own, inquiry } = step.state.cluster.promotion;
  if (own !== undefined)
    return isSamePlan(plan, own.draft)
      ? step.reply(requestId, { _tag: "Promotion", promotion: promotionStatus(step.state) })
      : refuse(another(`is pinned: ${own.transferId}, to ${members(own.draft)}`));
  const refused = refusalHere(step, plan);
  if (refused !== undefined) return refuse(refused);
  if (inquiry !== undefined && !isSamePlan(plan, inquiry.plan))
    return refuse(another(`was asked for just now, to ${members(inquiry.plan)}`));
  const waiters = [...(inquiry?.waiters ?? []), { requestId, bearer, dryRun }];
  if (waiters.length > step.capacities.readinessWaiters)
    return refuse(another(`to ${members(plan)} is asked for by as many as may wait for it`));
  if (inquiry !== undefined) return keep(step, { ...inquiry, waiters });
  const nonce = freshNonce(step, "promotion");
  const begun = { plan, nonce, startedAt: step.elapsed, waiters, answers: new Map() };
  keep(step, begun);
  ask(step, begun, targetsOf(step, plan));
  step.arm(PROMOTION_TIMER, PROMOTION_AGAIN_MILLIS);
};

const keep = (step: Step, inquiry: Inquiry | undefined): void => {
  step.draft("cluster").promotion = { ...step.state.cluster.promotion, inquiry };
};

const targetsOf = (step: Step, plan: PromotionPlan): ReadonlyArray<PeerId> =>
  plan.members.flatMap(({ peerId }) => (peerId === step.self ? [] : [peerId]));

const ask = (step: Step, { plan, nonce }: Inquiry, to: ReadonlyArray<PeerId>): void => {
  const identityKey = ownKey(step);
  if (identityKey === undefined) return;
  const { configDigest } = step.context.settings;
  const { development } = step.membership.topology;
  tell(step, { _tag: "Promotion.Ask", identityKey, nonce, ...plan, development, configDigest }, to);
};

export const onStanding = (step: Step, from: PeerId, answer: PromotionMessageOf<"Promotion.Standing">): void => {
  noteWitness(step, from, answer);
  const { identityKey, nonce, fault } = answer;
  const { inquiry } = step.state.cluster.promotion;
  if (inquiry === undefined || nonce !== inquiry.nonce) return;
  if (!inquiry.plan.members.some((each) => each.peerId === from && each.identityKey === identityKey)) return;
  const answered = { ...inquiry, answers: withEntry(inquiry.answers, from, fault) };
  keep(step, answered);
  conclude(step, answered);
};

/** Goes on asking; what is silent for too long is named. */
export const inquireAgain = (step: Step): void => {
  const { inquiry } = step.state.cluster.promotion;
  if (inquiry === undefined) return;
  const silent = targetsOf(step, inquiry.plan).filter((peerId) => !inquiry.answers.has(peerId));
  if (step.elapsed - inquiry.startedAt >= Limits.promotionAskMillis) {
    const faults = silent.map((peerId) => ({ peerId, reason: "it does not answer, or not with the key of the plan" }));
    return giveUp(step, inquiry, [...faultsIn(inquiry.answers), ...faults]);
  }
  ask(step, inquiry, silent);
  conclude(step, inquiry);
  step.arm(PROMOTION_TIMER, PROMOTION_AGAIN_MILLIS);
};

const faultsIn = (answers: ReadonlyMap<PeerId, string | undefined>): ReadonlyArray<MemberFault> =>
  [...answers].flatMap(([peerId, reason]) => (reason === undefined ? [] : [{ peerId, reason }]));

const conclude = (step: Step, inquiry: Inquiry): void => {
  if (targetsOf(step, inquiry.plan).some((peerId) => !inquiry.answers.has(peerId))) return;
  const faults = faultsIn(inquiry.answers);
  if (faults.length > 0) return giveUp(step, inquiry, faults);
  // A change may have begun meanwhile, and is waited for.
  if (!isSettled(step)) return;
  const refused = refusalHere(step, inquiry.plan);
  if (refused !== undefined) return end(step, inquiry, refused);
  // It is pinned for the first that wants more than to try and may still do so: the registry may have grown meanwhile.
  for (const { bearer, dryRun } of inquiry.waiters) {
    const claims = allowed(step, bearer);
    if (dryRun || Either.isLeft(claims)) continue;
    const { iss, sub, jti } = claims.right;
    pin(step, inquiry, { iss, sub, jti });
    break;
  }
  end(step, inquiry, undefined);
};

const giveUp = (step: Step, inquiry: Inquiry, faults: ReadonlyArray<MemberFault>): void =>
  end(
    step,
    inquiry,
    faults.length === 0
      ? unavailable([{ peerId: step.self, reason: "something is undecided here" }], undefined)
      : rejection(
          "PROMOTION_REFUSED",
          `Not every target would accept: ${faults.map(({ peerId, reason }) => `peer ${peerId}: ${reason}`).join("; ")}.`,
          "Put right what is named and repeat the request; nothing was pinned.",
          { members: faults },
        ),
  );

const end = (step: Step, { waiters }: Inquiry, refusedAll: Rejection | undefined): void => {
  keep(step, undefined);
  const promotion = promotionStatus(step.state);
  for (const { requestId, bearer } of waiters) {
    const refused = refusedAll ?? Option.getOrUndefined(Either.getLeft(allowed(step, bearer)));
    step.reply(
      requestId,
      refused === undefined ? { _tag: "Promotion", promotion } : { _tag: "Rejected", rejection: refused },
    );
  }
};

/** All that wait are told, when this peer can no longer go on. */
export const forgetInquiry = (step: Step, reason: string): void => {
  const { inquiry } = step.state.cluster.promotion;
  if (inquiry !== undefined) end(step, inquiry, unavailable([{ peerId: step.self, reason }], undefined));
};
