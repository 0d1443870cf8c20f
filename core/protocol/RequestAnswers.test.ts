import { describe, expect, it } from "vitest";
import { actor, type Cluster, NOW, whole, founded } from "../../properties/cluster/Cluster.ts";
import type { ActorCheck } from "../auth/ActorCheck.ts";
import { Limits } from "../base/Limits.ts";
import type { Message } from "../Message.ts";

const approvers = (cluster: Cluster) => [...cluster.peers.values()].map((each) => each.state.registry.approvers);

const expiring = (inMillis: number): ActorCheck => {
  if (actor._tag !== "Verified") throw new Error("the test actor is verified");
  return { _tag: "Verified", claims: { ...actor.claims, expiresAt: NOW + inMillis } };
};

describe("a request that nobody can decide in time", () => {
  it("is answered by the writer, which names the member, before its entry peer gives up", () => {
    const cluster = founded();
    cluster.tamper = (_from, to, message) => (message._tag === "Prepare" && to === 2 ? undefined : message);
    cluster.register(3, "request", "alice", 7);
    cluster.pass(10_000);
    expect(cluster.answers.get("request")).toMatchObject({
      rejection: { outcomeUnknown: true, members: [{ peerId: 2, reason: "it has not confirmed the preparation" }] },
    });
  });
});

describe("a request", () => {
  it("is refused while less than five seconds of its token are left, and taken at exactly five", () => {
    for (const [left, taken] of [
      [Limits.tokenRemainderMillis - 1, false],
      [Limits.tokenRemainderMillis, true],
    ] as const) {
      const cluster = founded();
      cluster.judge = () => expiring(cluster.now - NOW + left);
      cluster.register(1, "request", "alice", 7);
      cluster.settle();
      expect(cluster.answers.get("request")?._tag, `${left} ms`).toBe(taken ? "Registered" : "Rejected");
    }
  });

  it.each([1, 2])("that joins another one through peer %i is judged by itself when that one is refused", (entry) => {
    const cluster = founded();
    let asked = 0;
    cluster.judge = (peerId) => (peerId === 3 && asked++ === 0 ? { _tag: "Refused", reason: "unknown key" } : actor);
    cluster.register(1, "creator", "alice", 7);
    cluster.register(entry, "coalesced", "alice", 7, { team: "joined" });
    cluster.register(entry, "another", "alice", 7);
    cluster.pass(100);
    expect(cluster.answers.get("creator")).toMatchObject({ rejection: { code: "UNAUTHENTICATED" } });
    expect(cluster.answers.get("coalesced")).toMatchObject({
      created: true,
      approver: { metadata: [["team", "joined"]] },
    });
    expect(cluster.answers.get("another")).toMatchObject({ created: false });
    expect(approvers(cluster)).toEqual([1, 1, 1]);
  });

  it("that joins a refused one is answered in time, and is left open by nobody", () => {
    const cluster = founded();
    cluster.judge = (peerId) => (peerId === 3 ? { _tag: "Refused", reason: "unknown key" } : actor);
    for (const name of ["creator", "coalesced", "another"]) cluster.register(1, name, "alice", 7);
    cluster.pass(500);
    for (const name of ["creator", "coalesced", "another"])
      expect(cluster.answers.get(name), name).toMatchObject({
        rejection: { code: "UNAUTHENTICATED", outcomeUnknown: false },
      });
    expect(approvers(cluster)).toEqual([0, 0, 0]);
  });

  it("that a member refused stays refused when a duplicate of it arrives", () => {
    const cluster = founded();
    const copies: Array<Message> = [];
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "Forward") copies.push(message);
      return message;
    };
    cluster.judge = (peerId) => (peerId === 3 ? { _tag: "Refused", reason: "unknown key" } : actor);
    cluster.register(2, "request", "alice", 7);
    cluster.settle();
    expect(cluster.answers.get("request")).toMatchObject({
      rejection: { code: "UNAUTHENTICATED", outcomeUnknown: false },
    });
    cluster.judge = () => actor;
    cluster.pass(5_000);
    for (const message of copies)
      cluster.peers.get(1)?.dispatch({ _tag: "Deliver", from: 2, message, actors: [actor] });
    cluster.pass(5_000);
    expect(copies.length).toBeGreaterThan(0);
    expect(approvers(cluster)).toEqual([0, 0, 0]);
  });

  for (const [what, judge] of [
    ["a member does not answer", undefined],
    ["its token is not accepted any more", { _tag: "Refused", reason: "revoked" }],
    ["its token expires too soon", expiring(4_000)],
  ] as const)
    it(`whose first copy is prepared everywhere is told that the outcome is open when ${what}`, () => {
      const cluster = founded();
      cluster.tamper = (_from, to, message) => (message._tag === "Votes" && to === 1 ? undefined : message);
      cluster.register(2, "request", "alice", 7);
      cluster.settle();
      cluster.peers.get(1)?.stop();
      cluster.start(1);
      cluster.settle();
      cluster.tamper = (from, to, message) =>
        message._tag === "SettleQuery" || (judge === undefined && (from === 3 || to === 3)) ? undefined : message;
      if (judge !== undefined) cluster.judge = () => judge;
      cluster.pass(6_000);
      expect(cluster.answers.get("request")).toMatchObject({ _tag: "Rejected", rejection: { outcomeUnknown: true } });
      cluster.tamper = whole;
      cluster.pass(20_000);
      expect(approvers(cluster)).toEqual([1, 1, 1]);
    });

  it("that is applied everywhere, and whose answer was lost, is never told that nothing is reserved", () => {
    const cluster = founded();
    cluster.tamper = (_from, _to, message) =>
      message._tag === "Outcome" && message.outcome._tag === "Confirmed" ? undefined : message;
    cluster.register(3, "request", "alice", 7);
    cluster.pass(300);
    expect(approvers(cluster)).toEqual([1, 1, 1]);
    cluster.peers.get(2)?.stop();
    cluster.tamper = (from, to, message) => (from === 2 || to === 2 ? undefined : message);
    cluster.pass(6_000);
    expect(cluster.answers.get("request")).toMatchObject({ _tag: "Rejected", rejection: { outcomeUnknown: true } });
  });

  it("is answered in time, naming the member that has not confirmed, although the wall clock was set back an hour", () => {
    const cluster = founded();
    cluster.tamper = (_from, to, message) => (message._tag === "Prepare" && to === 3 ? undefined : message);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    cluster.clockOffset = -3_600_000;
    cluster.pass(10_000);
    expect(cluster.answers.get("request")).toMatchObject({
      rejection: { outcomeUnknown: true, members: [{ peerId: 3, reason: "it has not confirmed the preparation" }] },
    });
  });

  it("is answered with the member that has not acknowledged a change that the others have applied", () => {
    const cluster = founded();
    cluster.tamper = (_from, to, message) => (message._tag === "Commit" && to === 3 ? undefined : message);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    cluster.peers.get(3)?.stop();
    cluster.pass(10_000);
    expect(cluster.answers.get("request")).toMatchObject({
      rejection: { outcomeUnknown: true, members: [{ peerId: 3, reason: "it has not acknowledged the change" }] },
    });
  });

  it("with a subject too long to be stored is refused before anything is stored", () => {
    const cluster = founded();
    if (actor._tag !== "Verified") throw new Error("the test actor is verified");
    const { claims } = actor;
    cluster.judge = () => ({ _tag: "Verified", claims: { ...claims, sub: "é".repeat(Limits.subjectBytes / 2) } });
    cluster.register(1, "fits", "alice", 7);
    cluster.pass(100);
    expect(cluster.answers.get("fits")).toMatchObject({ _tag: "Registered", created: true });
    cluster.judge = () => ({ _tag: "Verified", claims: { ...claims, sub: `x${"é".repeat(Limits.subjectBytes / 2)}` } });
    cluster.register(1, "beyond", "bob", 8);
    expect(cluster.answers.get("beyond")).toMatchObject({ rejection: { code: "UNAUTHENTICATED" } });
  });
});

describe("a mono instance", () => {
  it("puts what queued up into one round: one batch of statements, one transaction", () => {
    const cluster = founded(1);
    for (let index = 0; index < 10; index++) cluster.register(1, `r${index}`, `id-${index}`, index);
    cluster.register(1, "twin", "id-3", 3);
    cluster.register(1, "thief", "other", 3);
    const before = cluster.peers.get(1)?.state.signed.chain.batchNo ?? 0;
    cluster.pass(10);
    expect(approvers(cluster)).toEqual([10]);
    // Receipts in one batch, acknowledgements in the next, both in one transaction.
    expect(cluster.peers.get(1)?.state.signed.chain.batchNo).toBe(before + 2);
    expect(cluster.answers.get("r0")).toMatchObject({ created: true });
    expect(cluster.answers.get("twin")).toMatchObject({ created: false });
    expect(cluster.answers.get("thief")).toMatchObject({ rejection: { code: "KEY_ALREADY_REGISTERED" } });
  });
});

describe("readiness", () => {
  it("is answered from a fresh probe without asking the members again", () => {
    const cluster = founded();
    let probes = 0;
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "ReadyProbe") probes += 1;
      return message;
    };
    for (let index = 0; index < 50; index++) {
      cluster.peers.get(2)?.dispatch({ _tag: "CheckReadiness", requestId: `ready-${index}` });
      cluster.settle();
    }
    expect(probes).toBe(2);
    expect(cluster.answers.get("ready-49")).toEqual({ _tag: "Readiness", faults: [] });
  });

  it("cannot be answered by one member in the name of another", () => {
    const cluster = founded();
    cluster.tamper = (from, _to, message) => {
      if (message._tag !== "Ready" || from !== 2) return message;
      return { ...message, peerId: 3, sealed: true };
    };
    cluster.peers.get(1)?.dispatch({ _tag: "CheckReadiness", requestId: "ready" });
    cluster.pass(2 * Limits.probeWaitMillis + 100);
    expect(cluster.answers.get("ready")).toEqual({
      _tag: "Readiness",
      faults: [{ peerId: 2, reason: "it is there and answers too slowly" }],
    });
  });

  it("names a member whose clock is off by more than the tolerance, and not one that is off by exactly it", () => {
    for (const [skew, faults] of [
      [Limits.clockSkewMillis, 0],
      [Limits.clockSkewMillis + 1, 1],
    ] as const) {
      const cluster = founded();
      cluster.tamper = (from, _to, message) =>
        message._tag === "Ready" && from === 2 ? { ...message, clock: message.clock + skew } : message;
      cluster.peers.get(1)?.dispatch({ _tag: "CheckReadiness", requestId: "ready" });
      cluster.settle();
      expect(cluster.answers.get("ready")).toMatchObject({ faults: { length: faults } });
    }
  });
});
