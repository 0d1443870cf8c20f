import { describe, expect, it } from "vitest";
import { type Cluster, codeOf } from "../../properties/cluster/Cluster.ts";
import { create, destroy, keeper } from "../../properties/cluster/Keyed.ts";
import {
  answeredWith,
  beforePromotion,
  planOf,
  promote,
  promoter,
  promoterWithout,
} from "../../properties/cluster/Promoting.ts";
import type { ActorCheck } from "../auth/ActorCheck.ts";
import type { Digest, PublicKey } from "../base/Digest.ts";
import { CAPACITIES } from "../base/Capacities.ts";
import { Limits } from "../base/Limits.ts";
import type { PromotionPlan } from "./PromotionPlan.ts";
import { numberKey } from "./Tables.ts";

const OTHER = "ab".repeat(32) as PublicKey;

const named = (sub: string): ActorCheck =>
  promoter._tag === "Verified" ? { ...promoter, claims: { ...promoter.claims, sub } } : promoter;

const rejected = (cluster: Cluster, requestId = "promote") => {
  const answer = cluster.answers.get(requestId);
  return answer?._tag === "Rejected" ? answer.rejection : expect.fail(`${requestId} was not refused`);
};

const settled = (cluster: Cluster): Cluster => {
  cluster.settle();
  return cluster;
};

/** The source pins nothing, and goes on as it was. */
const expectNothingPinned = (cluster: Cluster): void => {
  expect(cluster.row(2, "promotion", "self")).toBeUndefined();
  for (const peerId of [1, 3]) expect(cluster.row(peerId, "transfer", "self")).toBeUndefined();
  cluster.register(2, "goes on", "zoe", 9);
  cluster.pass(100);
  expect(codeOf(cluster, "goes on")).toBe("Registered");
};

describe("a plan", () => {
  const plan = planOf();
  const [first, second, third] = plan.members;
  if (first === undefined || second === undefined || third === undefined) throw new Error("it has three members");

  it.each<readonly [string, PromotionPlan, string]>([
    ["without its source", { ...plan, members: [first, third] }, "/members"],
    ["of the source alone", { ...plan, members: [second] }, "/members"],
    [
      "with another key of its source",
      { ...plan, members: [first, { ...second, identityKey: OTHER }, third] },
      "/members",
    ],
    ["with a peer twice", { ...plan, members: [first, second, { ...first, identityKey: OTHER }] }, "/members/1/peerId"],
    ["with a key twice", { ...plan, members: [first, second, { ...first, peerId: 3 }] }, "/members/2/identityKey"],
    ["with a peer 0", { ...plan, members: [second, { peerId: 0, identityKey: OTHER }] }, "/members/0/peerId"],
    [
      "with a peer that nobody can find",
      { ...plan, members: [...plan.members, { peerId: 9, identityKey: OTHER }] },
      "/members/3/peerId",
    ],
    ["of which one member signs", { ...plan, threshold: 1 }, "/threshold"],
    ["of which more sign than there are", { ...plan, threshold: 4 }, "/threshold"],
  ])("%s is refused", (_what, wrong, pointer) => {
    const cluster = beforePromotion();
    promote(cluster, "promote", wrong);
    expect(rejected(settled(cluster))).toMatchObject({ code: "INVALID_REQUEST_BODY" });
    expect(rejected(cluster).faults.map((each) => each.pointer)).toContain(pointer);
    expectNothingPinned(cluster);
  });

  it("may name its members in any order", () => {
    const cluster = beforePromotion();
    promote(cluster, "promote", { ...plan, members: plan.members.toReversed() });
    cluster.settle();
    expect(answeredWith(cluster)).toMatchObject({ stage: "PINNED", members: [1, 2, 3] });
  });
});

describe("a request for a promotion", () => {
  it("needs its permission, and with approvers those of the registry", () => {
    const cluster = beforePromotion();
    const without = (permission: string): string | undefined => {
      promote(cluster, permission, planOf(), { bearer: promoterWithout(permission), dryRun: true });
      cluster.settle();
      return codeOf(cluster, permission);
    };
    expect(without("service.approvers.register")).toBe("Promotion");
    expect(without("service.system.promote")).toBe("ACCESS_DENIED");
    cluster.register(2, "first", "alice", 1);
    cluster.pass(100);
    expect(without("service.approvers.register")).toBe("ACCESS_DENIED");
    expect(without("service.approvers.metadata")).toBe("ACCESS_DENIED");
    promote(cluster, "all", planOf(), { bearer: promoter });
    cluster.settle();
    expect(codeOf(cluster, "all")).toBe("Promotion");
  });

  it("that is only tried pins nothing", () => {
    const cluster = beforePromotion();
    promote(cluster, "promote", planOf(), { dryRun: true });
    cluster.settle();
    expect(cluster.answers.get("promote")).toEqual({ _tag: "Promotion", promotion: undefined });
    expectNothingPinned(cluster);
  });

  it("is pinned as that of whom wants more than to try, however many tried before", () => {
    const cluster = beforePromotion();
    promote(cluster, "tried", planOf(), { bearer: named("tries"), dryRun: true });
    promote(cluster, "promote", planOf(), { bearer: named("promotes") });
    cluster.settle();
    expect(codeOf(cluster, "tried")).toBe("Promotion");
    expect(cluster.row(2, "audit", numberKey(2))).toMatchObject({
      event: "PROMOTION_PINNED",
      actor: { sub: "promotes" },
    });
  });

  it("is refused when the registry got its first approver while the targets were asked, for whom that takes more", () => {
    const cluster = beforePromotion();
    cluster.tamper = (_from, to, message) => (to === 3 ? undefined : message);
    promote(cluster, "promote", planOf(), { bearer: promoterWithout("service.approvers.register") });
    cluster.register(2, "first", "alice", 1);
    cluster.pass(100);
    cluster.tamper = (_from, _to, message) => message;
    cluster.pass(3_000);
    expect(codeOf(cluster, "first")).toBe("Registered");
    expect(codeOf(cluster, "promote")).toBe("ACCESS_DENIED");
    expectNothingPinned(cluster);
  });

  it("is refused by a member of a cluster, and by a peer that belongs to nothing", () => {
    const cluster = beforePromotion();
    promote(cluster, "nothing", planOf(), { source: 1 });
    cluster.settle();
    expect(rejected(cluster, "nothing")).toMatchObject({
      members: [{ peerId: 1, reason: "the cluster is not founded yet" }],
    });
    promote(cluster);
    cluster.pass(10_000);
    promote(cluster, "member", planOf(), { source: 1 });
    cluster.settle();
    expect(codeOf(cluster, "member")).toBe("PROMOTION_IMPOSSIBLE");
  });

  it("repeated is harmless, and another one is told which is pinned", () => {
    const cluster = beforePromotion();
    promote(cluster);
    cluster.settle();
    const { transferId } = answeredWith(cluster) ?? expect.fail("it is pinned");
    const before = cluster.committed.length;
    promote(cluster, "again");
    promote(cluster, "other", planOf(3, 3));
    expect(answeredWith(cluster, "again")?.transferId).toBe(transferId);
    expect(rejected(cluster, "other")).toMatchObject({ code: "PROMOTION_UNDER_WAY" });
    expect(rejected(cluster, "other").detail).toContain(transferId);
    expect(cluster.committed.length).toBe(before);
  });

  it("waits with others for one plan, and is refused beside another one", () => {
    const cluster = beforePromotion();
    promote(cluster);
    promote(cluster, "with it");
    promote(cluster, "beside it", planOf(3, 3));
    cluster.settle();
    expect(["promote", "with it", "beside it"].map((each) => codeOf(cluster, each))).toEqual([
      "Promotion",
      "Promotion",
      "PROMOTION_UNDER_WAY",
    ]);
  });

  it("is refused while a custody key that no members can share is not destroyed, which is named", () => {
    const cluster = beforePromotion();
    cluster.judge = () => keeper;
    create(cluster, 2, "key", { algorithm: "P256" });
    create(cluster, 2, "shareable", { keyId: "k2" });
    cluster.pass(1_000);
    expect([codeOf(cluster, "key"), codeOf(cluster, "shareable")]).toEqual(["KeyMade", "KeyMade"]);
    promote(cluster);
    cluster.settle();
    expect(rejected(cluster)).toMatchObject({ code: "KEYS_NOT_PROMOTABLE" });
    expect(rejected(cluster).detail).toContain(": k1.");
    expect(cluster.row(2, "promotion", "self")).toBeUndefined();
    destroy(cluster, 2, "destroyed", { generation: 1, baseGeneration: 1, final: true });
    cluster.pass(1_000);
    expect(codeOf(cluster, "destroyed")).toBe("KeyDestroyed");
    promote(cluster, "then");
    cluster.settle();
    expect(answeredWith(cluster, "then")).toMatchObject({ stage: "PINNED" });
  });

  it("is answered to as many as may wait for it, and to no more", () => {
    const cluster = beforePromotion();
    const { readinessWaiters } = CAPACITIES;
    for (let at = 0; at <= readinessWaiters; at++) promote(cluster, `asked ${at}`);
    expect(codeOf(cluster, `asked ${readinessWaiters}`)).toBe("PROMOTION_UNDER_WAY");
    cluster.settle();
    expect(codeOf(cluster, `asked ${readinessWaiters - 1}`)).toBe("Promotion");
  });

  it("names the targets that do not answer, and pins nothing", () => {
    const cluster = beforePromotion();
    cluster.tamper = (_from, to, message) => (to === 3 ? undefined : message);
    promote(cluster);
    cluster.pass(Limits.promotionAskMillis - 1);
    expect(codeOf(cluster, "promote")).toBeUndefined();
    cluster.pass(600);
    expect(rejected(cluster)).toMatchObject({ code: "PROMOTION_REFUSED", members: [{ peerId: 3 }] });
    expectNothingPinned(cluster);
  });

  it("ends with a seal, and nothing was pinned", () => {
    const cluster = beforePromotion();
    promote(cluster);
    cluster.dispatch(2, { _tag: "Sealed" });
    expect(rejected(cluster)).toMatchObject({ members: [{ peerId: 2, reason: "it is sealed" }] });
    promote(cluster, "sealed");
    expect(codeOf(cluster, "sealed")).toBe("SEALED");
  });

  it("believes a target under its own key alone, and only what answers this request", () => {
    const cluster = beforePromotion();
    cluster.tamper = (_from, _to, message) =>
      message._tag === "Promotion.Standing" ? { ...message, nonce: "ef".repeat(32) as Digest } : message;
    promote(cluster);
    cluster.settle();
    expect(codeOf(cluster, "promote")).toBeUndefined();
    cluster.tamper = (from, _to, message) =>
      message._tag === "Promotion.Standing" && from === 3 ? { ...message, identityKey: OTHER } : message;
    cluster.pass(3_000);
    expect(codeOf(cluster, "promote")).toBeUndefined();
    cluster.tamper = (_from, _to, message) => message;
    cluster.pass(600);
    expect(codeOf(cluster, "promote")).toBe("Promotion");
  });
});

describe("a target", () => {
  const refusalOf = (override: Parameters<typeof beforePromotion>[2], plan = planOf()): string => {
    const cluster = beforePromotion(2, 3, override);
    promote(cluster, "promote", plan);
    cluster.settle();
    expectNothingPinned(cluster);
    return rejected(cluster)
      .members.map(({ peerId, reason }) => `${peerId}: ${reason}`)
      .join("; ");
  };

  it("refuses where its operator has named no source", () => {
    expect(refusalOf((peerId) => (peerId === 3 ? { joins: undefined, bootstrapSecret: undefined } : {}))).toMatch(
      /^3: its configuration names no source/,
    );
  });

  it("refuses another source than its operator has named, and the same with another key", () => {
    expect(refusalOf((peerId) => (peerId === 3 ? { joins: { peerId: 1, identityKey: OTHER } } : {}))).toMatch(
      /^3: its configuration names peer 1 as the source/,
    );
    expect(refusalOf((peerId) => (peerId === 3 ? { joins: { peerId: 2, identityKey: OTHER } } : {}))).toMatch(
      /^3: its configuration names peer 2 as the source, and a key/,
    );
  });

  it("refuses another threshold than it was initialized with", () => {
    expect(refusalOf(undefined, planOf(3, 3))).toBe(
      "1: it was initialized with the threshold 2; 3: it was initialized with the threshold 2",
    );
  });

  it("refuses another total than it was initialized with", () => {
    expect(refusalOf(undefined, planOf(2, 2))).toBe("1: it was initialized with the total 3");
  });

  it("refuses another configuration, and a source that is not what it is itself", () => {
    const configDigest = "cd".repeat(32) as Digest;
    expect(refusalOf((peerId) => (peerId === 1 ? { configDigest } : {}))).toBe("1: its cluster configuration differs");
    expect(refusalOf((peerId) => (peerId === 1 ? { development: false } : {}))).toBe(
      "1: only one of it and the source is a development peer",
    );
  });
});
