import { describe, expect, it } from "vitest";
import { actor, Cluster, codeOf, founded, NOW, rowsOf } from "../../properties/cluster/Cluster.ts";
import { credential, enrolling, finish, offerOf, options } from "../../properties/cluster/Enrolling.ts";
import type { ActorClaims } from "../auth/ActorClaims.ts";
import type { ActorCheck } from "../auth/ActorCheck.ts";
import { Limits } from "../base/Limits.ts";

const HOUR = 3_600_000;

const token = (claims: Partial<ActorClaims>): ActorCheck => {
  if (actor._tag !== "Verified") throw new Error("the usual token holds");
  return { _tag: "Verified", claims: { ...actor.claims, ...claims } };
};

/** Sets the clock of one peer and has it read. */
const set = (cluster: Cluster, peerId: number, byMillis: number): void => {
  cluster.clockOffsets.set(peerId, byMillis);
  cluster.peers.get(peerId)?.dispatch({ _tag: "TimerFired", timer: "prune" });
};

const refusedFor = (peerId: number) => ({
  rejection: {
    code: "APPROVER_REPLICATION_UNAVAILABLE",
    outcomeUnknown: false,
    members: [{ peerId, reason: expect.stringMatching(/^its clock was set by more than 5 s/) }],
  },
});

/** The answer of a single peer under a token that was good until its clock was set. */
const ask = (cluster: Cluster, requestId: string): unknown => {
  cluster.register(1, requestId, "alice", 7);
  cluster.pass(2_000);
  return cluster.answers.get(requestId);
};

describe("a token that is refused only since the clock of its judge was set", () => {
  it.each<readonly [string, number, number, number, Partial<ActorClaims>]>([
    ["ahead, alone", 1, 1, HOUR, {}],
    ["ahead, as the writer of its own callers", 3, 1, HOUR, {}],
    ["ahead, as the writer of others", 3, 2, HOUR, {}],
    ["back", 3, 2, -HOUR, { notBefore: NOW }],
    ["back, of a token that says when it was issued", 1, 1, -HOUR, { issuedAt: NOW }],
    ["so far ahead that the token ends too soon", 1, 1, HOUR - 4_000, {}],
  ])("is answered 503 for that clock: %s", (_which, total, through, byMillis, claims) => {
    const cluster = founded(total);
    cluster.judge = () => token(claims);
    set(cluster, 1, byMillis);
    cluster.register(through, "request", "alice", 7);
    cluster.pass(100);
    expect(cluster.answers.get("request")).toMatchObject(refusedFor(1));
    expect(rowsOf(cluster, "preparations").every((count) => count === 0)).toBe(true);
  });

  it("is answered 401 once that clock has stood so for ten minutes", () => {
    const cluster = founded(1);
    cluster.judge = () => token({ expiresAt: NOW + 2 * HOUR });
    set(cluster, 1, 2 * HOUR);
    cluster.pass(Limits.clockDoubtMillis - 1);
    expect(ask(cluster, "before")).toMatchObject(refusedFor(1));
    cluster.pass(1);
    ask(cluster, "after");
    expect(codeOf(cluster, "after")).toBe("UNAUTHENTICATED");
  });

  it("is taken again at once when that clock is put back", () => {
    const cluster = founded(1);
    set(cluster, 1, HOUR);
    expect(ask(cluster, "before")).toMatchObject(refusedFor(1));
    set(cluster, 1, 0);
    expect(ask(cluster, "after")).toMatchObject({ _tag: "Registered" });
  });

  it("is not taken by the clock that was left: only by what it shows now", () => {
    const cluster = founded(1);
    set(cluster, 1, -HOUR);
    set(cluster, 1, 0);
    cluster.judge = () => token({ expiresAt: cluster.now - 60_000 });
    expect(ask(cluster, "expired meanwhile")).toMatchObject(refusedFor(1));
    expect(rowsOf(cluster, "preparations")).toEqual([0]);
  });

  it("is a member's reason for a no that says nothing about the token", () => {
    const cluster = enrolling(3);
    cluster.judge = () => token({ expiresAt: cluster.now + 20_000 });
    cluster.tamper = (_from, to, message) => {
      if (message._tag === "Session.Mirror" && to === 3) cluster.clockOffsets.set(3, 30_000);
      return message;
    };
    options(cluster, 2, "options");
    cluster.pass(100);
    expect(cluster.answers.get("options")).toMatchObject({
      rejection: {
        code: "APPROVER_REPLICATION_UNAVAILABLE",
        outcomeUnknown: false,
        members: [{ peerId: 3, reason: "CLOCK_IN_DOUBT" }],
      },
    });
  });
});

describe("a token is answered 401 although the clock of its judge was set", () => {
  it.each<readonly [string, number, Partial<ActorClaims>]>([
    ["where it had expired before", HOUR, { expiresAt: NOW }],
    ["where its audience is another one", HOUR, { audience: ["another"] }],
    ["by no more than clocks may differ", Limits.clockSkewMillis, { expiresAt: NOW + 5_000 }],
  ])("%s", (_where, byMillis, claims) => {
    const cluster = founded(1);
    cluster.judge = () => token(claims);
    set(cluster, 1, byMillis);
    ask(cluster, "request");
    expect(codeOf(cluster, "request")).toBe("UNAUTHENTICATED");
  });

  it("before its process started, for it has seen no other clock", () => {
    const cluster = new Cluster(1);
    cluster.clockOffset = HOUR;
    cluster.peers.get(1)?.stop();
    cluster.start(1);
    cluster.pass(2_000);
    ask(cluster, "request");
    expect(codeOf(cluster, "request")).toBe("UNAUTHENTICATED");
  });
});

describe("an invitation that is over only since the clock of its judge was set", () => {
  const DAYS = 72 * HOUR;

  it.each<readonly [string, number, number, number, number]>([
    ["ahead, alone", 1, 1, 1, DAYS],
    ["ahead, where it entered", 3, 2, 2, DAYS],
    ["ahead, at the writer", 3, 2, 1, DAYS],
    ["an hour ahead", 1, 1, 1, HOUR / 2],
    ["back", 1, 1, 1, -DAYS],
  ])("is answered 503 for that clock, and is good when it is right again: %s", (_which, total, through, wrong, by) => {
    const cluster = enrolling(total);
    const offer = offerOf(cluster, through, "options");
    set(cluster, wrong, by);
    finish(cluster, through, "early", offer.invitation, credential(offer));
    cluster.pass(3_000);
    expect(cluster.answers.get("early")).toMatchObject({
      rejection: { code: "APPROVER_REPLICATION_UNAVAILABLE", outcomeUnknown: false },
    });
    set(cluster, wrong, 0);
    cluster.pass(2_000);
    finish(cluster, through, "later", offer.invitation, credential(offer));
    cluster.pass(3_000);
    expect(cluster.answers.get("later")).toMatchObject({ _tag: "Registered", created: true });
  });
});
