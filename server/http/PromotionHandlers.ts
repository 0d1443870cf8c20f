/** An instance that is alone is made a cluster (contract 10.6): asked for at the source, told there and at targets. */
import { Effect } from "effect";
import type { BodyFault } from "../../core/base/Rejection.ts";
import type { PublicKey } from "../../core/base/Digest.ts";
import type { ValueOf } from "../../core/codec/Shape.ts";
import { inOrder, type PromotionPlan } from "../../core/protocol/PromotionPlan.ts";
import type { PromotionStatus } from "../../core/protocol/PromotionStatus.ts";
import type { StatusDetail } from "../../core/protocol/Status.ts";
import { type ApiCall, answer, authorized, bearerOf, type Handler } from "./ApiCall.ts";
import { faultOf, httpFault } from "./HttpErrors.ts";
import { operated } from "./OperatorCalls.ts";
import { systemEndpoints } from "./endpoints/SystemEndpoints.ts";
import { invalidBody, type promotionShape } from "./SystemBodies.ts";

type Asked = ValueOf<typeof promotionShape>;

/** A promotion as callers are told it, with how much of the registry is here. */
export const toldPromotion = ({ promotion, approvers }: Pick<StatusDetail, "promotion" | "approvers">) =>
  promotion && { ...promotion, here: approvers };

const notInitialized = httpFault("NOT_INITIALIZED", "This peer is not initialized.", "Initialize it first.");

/** What this peer's configuration has against the plan; the core judges the rest. */
const faultsIn = ({ ports: { config } }: ApiCall, { total, targets }: Asked): ReadonlyArray<BodyFault> => {
  const faults: Array<BodyFault> = [];
  if (total !== targets.length + 1)
    faults.push({ pointer: "/total", code: "mismatch", detail: "The total is one more than there are targets." });
  targets.forEach(({ peerId, url }, index) => {
    const known = config.cluster.peers.find(({ id }) => id === peerId);
    const isKnown = URL.canParse(url) && known !== undefined && new URL(url).href === new URL(known.url).href;
    if (known !== undefined && !isKnown)
      faults.push({
        pointer: `/targets/${index}/url`,
        code: "mismatch",
        detail: `The configuration of this peer has another URL for peer ${peerId}.`,
      });
  });
  return faults;
};

/** Where a fault of the plan stands in the body that it was made from. */
const inBody = (plan: PromotionPlan, { targets }: Asked, fault: BodyFault): BodyFault => {
  const [, index = "", field = ""] = /^\/members\/(\d+)(\/\w+)$/.exec(fault.pointer) ?? [];
  const named = inOrder(plan).members[Number(index)];
  const place = index === "" ? -1 : targets.findIndex(({ peerId }) => peerId === named?.peerId);
  const pointer = place === -1 ? fault.pointer.replace(/^\/members/, "/targets") : `/targets/${place}${field}`;
  return { ...fault, pointer };
};

/** POST /v1/custody/system/promotion. */
export const promote: Handler = (call) =>
  operated(call, { call: "PROMOTE", body: systemEndpoints.promote.body }, (asked, operation) =>
    Effect.gen(function* () {
      const { peer } = call.ports;
      const own = peer.standing.cluster.peer;
      if (own === undefined) return yield* Effect.fail(notInitialized);
      const faults = faultsIn(call, asked);
      if (faults.length > 0) return yield* Effect.fail(invalidBody(faults));
      // The pattern of the shape is the brand.
      const targets = asked.targets.map(({ peerId, identityKey }) => ({
        peerId,
        identityKey: identityKey as PublicKey,
      }));
      const { peerId, identityKey } = own;
      const plan = { threshold: asked.threshold, members: [{ peerId, identityKey }, ...targets] };
      const { actor } = yield* bearerOf(call);
      const answered = yield* Effect.promise(() => peer.promote({ plan, actor, dryRun: asked.dryRun === true }));
      if (answered._tag === "Rejected") {
        const { rejection } = answered;
        const { faults: told } = rejection;
        return yield* Effect.fail(
          faultOf(
            told === undefined ? rejection : { ...rejection, faults: told.map((each) => inBody(plan, asked, each)) },
          ),
        );
      }
      const promotion: PromotionStatus | undefined = answered._tag === "Promotion" ? answered.promotion : undefined;
      operation.tell(asked.dryRun === true ? "ASKED" : "APPLIED", promotion?.transferId);
      const approvers = promotion?.approvers ?? 0;
      return answer(systemEndpoints.promote, promotion === undefined || promotion.stage === "DONE" ? 200 : 202, {
        promotion: toldPromotion({ promotion, approvers }) ?? null,
      });
    }),
  );

/** GET /v1/custody/system/promotion: in every state once initialized. */
export const readPromotion: Handler = (call) =>
  Effect.gen(function* () {
    yield* authorized(call);
    const detail = yield* Effect.promise(() => call.ports.peer.detail());
    if (detail === undefined) return yield* Effect.fail(notInitialized);
    return answer(systemEndpoints.readPromotion, 200, { promotion: toldPromotion(detail) ?? null });
  });
