import { describe, expect, it } from "vitest";
import { altered } from "../../properties/cluster/AlteredEffects.ts";
import { actor, type Cluster, codeOf, NOW, whole, founded } from "../../properties/cluster/Cluster.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import type { ActorCheck } from "../auth/ActorCheck.ts";
import { CAPACITIES } from "../base/Capacities.ts";
import { Limits } from "../base/Limits.ts";
import type { Message } from "../Message.ts";

const approvers = (cluster: Cluster) => [...cluster.peers.values()].map((each) => each.state.registry.approvers);
const registeredIn = (cluster: Cluster, requestId: string) => {
  const answer = cluster.answers.get(requestId);
  if (answer?._tag !== "Registered") throw new Error(`${requestId} was not registered`);
  return answer.approver;
};
const expiring = (inMillis: number): ActorCheck => {
  if (actor._tag !== "Verified") throw new Error("the test actor is verified");
  return { _tag: "Verified", claims: { ...actor.claims, expiresAt: NOW + inMillis } };
};

const DAY = 86_400_000;
const longLived = expiring(7 * DAY);

describe("a request with metadata that begins with a byte order mark", () => {
  it.each([1, 3])("is done like any other by a cluster of %i, and reads the same after a restart", (total) => {
    const cluster = founded(total);
    cluster.register(total, "request", "alice", 7, { team: "\uFEFFa" });
    cluster.pass(3_000);
    for (const peerId of cluster.peers.keys()) {
      cluster.peers.get(peerId)?.stop();
      cluster.start(peerId);
    }
    cluster.pass(3_000);
    cluster.register(1, "retry", "alice", 7);
    cluster.pass(3_000);
    expect(cluster.answers.get("request")).toMatchObject({ _tag: "Registered", created: true });
    expect(cluster.answers.get("retry")).toMatchObject({ approver: { metadata: [["team", "\uFEFFa"]] } });
    expect([...cluster.peers.values()].map((each) => each.state.fitness.integrityFault)).toEqual(
      Array(total).fill(undefined),
    );
  });
});

describe("a request through a peer that is not the writer", () => {
  it("is answered although the outcome was lost once", () => {
    const cluster = founded();
    let lost = 0;
    cluster.tamper = (_from, _to, message) => (message._tag === "Outcome" && lost++ === 0 ? undefined : message);
    cluster.register(3, "request", "alice", 7);
    cluster.pass(3_000);
    expect(cluster.answers.get("request")).toMatchObject({ _tag: "Registered", created: true });
    expect(approvers(cluster)).toEqual([1, 1, 1]);
  });

  it("is refused by name, with the outcome open, where the writer stays silent", () => {
    const cluster = founded();
    cluster.peers.get(1)?.stop();
    cluster.register(3, "request", "alice", 7);
    cluster.pass(Limits.probeWaitMillis + 600);
    expect(cluster.answers.get("request")).toMatchObject({
      rejection: {
        members: [{ peerId: 1, reason: "it does not answer" }],
        ref: expect.stringMatching(/^alice@sha256:/),
        outcomeUnknown: true,
      },
    });
  });

  it("believes no success without the certificate and every acknowledgement", () => {
    for (const bend of ["receipts", "acks", "ref"] as const) {
      const cluster = founded();
      cluster.tamper = (_from, _to, message) => {
        if (message._tag !== "Outcome" || message.outcome._tag !== "Confirmed") return message;
        const { certificate, acks } = message.outcome;
        const bent = {
          receipts: {
            ...message.outcome,
            certificate: { ...certificate, receipts: certificate.receipts.toReversed() },
          },
          acks: { ...message.outcome, acks: acks.slice(1) },
          ref: {
            ...message.outcome,
            certificate: { ...certificate, proposal: altered(certificate.proposal, { ref: "other" }) },
          },
        };
        return { ...message, outcome: bent[bend] };
      };
      cluster.register(3, "request", "alice", 7);
      cluster.pass(1_000);
      expect(cluster.answers.has("request"), bend).toBe(false);
    }
  });

  it.each([
    ["the same writer", false],
    ["a writer that was started again meanwhile", true],
  ])("once turned away is not registered by a copy that comes late to %s", (_who, isRestarted) => {
    const cluster = founded();
    const forwards: Array<Message> = [];
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "Forward") forwards.push(message);
      return message;
    };
    cluster.peers.get(2)?.stop();
    cluster.register(3, "request", "alice", 7);
    cluster.pass(4_000);
    expect(cluster.answers.get("request")).toMatchObject({
      rejection: { members: [{ peerId: 2 }], outcomeUnknown: false },
    });
    cluster.start(2);
    if (isRestarted) {
      cluster.peers.get(1)?.stop();
      cluster.start(1);
      cluster.pass(1_000);
    }
    const [copy] = forwards;
    if (copy !== undefined)
      cluster.peers.get(1)?.dispatch({ _tag: "Deliver", from: 3, message: copy, actors: [actor] });
    cluster.pass(4_000);
    expect(copy).toBeDefined();
    expect(approvers(cluster)).toEqual([0, 0, 0]);
    // The memory of the writer is of old requests only.
    cluster.register(3, "later", "alice", 7);
    cluster.pass(4_000);
    expect(cluster.answers.get("later")).toMatchObject({ _tag: "Registered", created: true });
  });

  it("once turned away is not registered by a copy that comes when so many more were that it is forgotten", () => {
    const cluster = founded();
    const forwards: Array<Message> = [];
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "Forward") forwards.push(message);
      return message;
    };
    cluster.peers.get(2)?.stop();
    cluster.register(3, "request", "alice", 7);
    cluster.pass(4_000);
    expect(cluster.answers.get("request")).toMatchObject({ rejection: { outcomeUnknown: false } });
    for (let count = 0; count < CAPACITIES.queuedCommands; count += 1) {
      cluster.register(3, `other ${count}`, "bob", 8);
      if (count % 128 === 127) cluster.pass(Limits.probeWaitMillis + 100);
    }
    expect(stateOf(cluster, 1).requests.turnedAway.get(3)?.size).toBe(1_024);
    cluster.start(2);
    cluster.pass(1_000);
    const [copy] = forwards;
    if (copy === undefined) throw new Error("nothing was forwarded");
    cluster.peers.get(1)?.dispatch({ _tag: "Deliver", from: 3, message: copy, actors: [actor] });
    cluster.pass(4_000);
    expect(approvers(cluster)).toEqual([0, 0, 0]);
    cluster.register(3, "later", "alice", 7);
    cluster.pass(4_000);
    expect(cluster.answers.get("later")).toMatchObject({ _tag: "Registered", created: true });
  });

  it("that waits at the writer is done although far more than it remembers are refused behind it", () => {
    const cluster = founded();
    // Alice is being replaced, so that the next replacement of her waits.
    cluster.register(3, "alice", "alice", 7);
    cluster.pass(2_000);
    const { ref } = registeredIn(cluster, "alice");
    cluster.tamper = (_from, to, message) => (message._tag === "Commit" && to === 2 ? undefined : message);
    cluster.replace(3, "first", ref, '"1"', { team: "b" });
    cluster.settle();
    cluster.replace(3, "waiting", ref, '"2"', { team: "c" });
    for (let count = 0; count < 1_100; count += 1) {
      cluster.now += 1;
      cluster.replace(3, `refused ${count}`, `other${ref.slice("alice".length)}`, '"1"', {});
      cluster.settle();
    }
    expect(cluster.answers.get("refused 1099")).toMatchObject({ rejection: { code: "APPROVER_NOT_FOUND" } });
    expect(cluster.answers.has("waiting")).toBe(false);
    cluster.tamper = whole;
    cluster.pass(3_000);
    expect(cluster.answers.get("waiting")).toMatchObject({ _tag: "Replaced", approver: { revision: 3 } });
  });

  it("whose token the writer does not accept is not registered by a copy that comes when it does", () => {
    const cluster = founded();
    const forwards: Array<Message> = [];
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "Forward") forwards.push(message);
      return message;
    };
    cluster.judge = (peerId) => (peerId === 1 ? { _tag: "Refused", reason: "its key is unknown" } : actor);
    cluster.register(3, "request", "alice", 7);
    cluster.settle();
    expect(cluster.answers.get("request")).toMatchObject({
      rejection: { code: "UNAUTHENTICATED", outcomeUnknown: false },
    });
    // The key set was read again.
    cluster.judge = () => actor;
    const [copy] = forwards;
    if (copy === undefined) throw new Error("nothing was forwarded");
    cluster.peers.get(1)?.dispatch({ _tag: "Deliver", from: 3, message: copy, actors: [actor] });
    cluster.pass(4_000);
    expect(approvers(cluster)).toEqual([0, 0, 0]);
  });

  it("under way while the writer is started again is left open, and found out by repeating", () => {
    const cluster = founded();
    cluster.tamper = (_from, _to, message) => (message._tag === "Forward" ? undefined : message);
    cluster.register(3, "request", "alice", 7);
    cluster.pass(10);
    cluster.peers.get(1)?.stop();
    cluster.start(1);
    cluster.pass(100);
    cluster.tamper = whole;
    cluster.pass(2_000);
    expect(cluster.answers.get("request")).toMatchObject({ rejection: { outcomeUnknown: true } });
    cluster.register(3, "again", "alice", 7);
    cluster.pass(3_000);
    expect(cluster.answers.get("again")).toMatchObject({ _tag: "Registered", created: true });
  });

  it("once turned away is not registered by a duplicate where its entry peer's clock was set back meanwhile", () => {
    const cluster = founded();
    const forwards: Array<Message> = [];
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "Forward") forwards.push(message);
      return message;
    };
    cluster.register(3, "before", "carol", 9);
    cluster.pass(Limits.probeAgeMillis + 1);
    cluster.peers.get(2)?.stop();
    forwards.length = 0;
    cluster.clockOffsets.set(3, 50_000);
    cluster.register(3, "request", "alice", 7);
    cluster.clockOffsets.clear();
    cluster.pass(Limits.probeWaitMillis);
    expect(cluster.answers.get("request")).toMatchObject({
      rejection: { members: [{ peerId: 2 }], outcomeUnknown: false },
    });
    cluster.start(2);
    cluster.peers.get(1)?.stop();
    cluster.start(1);
    cluster.pass(100);
    const [copy] = forwards;
    if (copy === undefined) throw new Error("nothing was forwarded");
    cluster.peers.get(1)?.dispatch({ _tag: "Deliver", from: 3, message: copy, actors: [actor] });
    cluster.pass(4_000);
    expect(approvers(cluster)).toEqual([1, 1, 1]);
  });

  it("is taken up as soon as the entry peer's clock is right again, however far ahead it was, and says whose it is", () => {
    const cluster = founded();
    cluster.clockOffsets.set(3, DAY);
    cluster.register(3, "ahead", "alice", 7);
    cluster.pass(3_000);
    const wasSet = { peerId: 3, reason: expect.stringMatching(/^its clock was set/) };
    expect(cluster.answers.get("ahead")).toMatchObject({ rejection: { members: [wasSet], outcomeUnknown: false } });
    cluster.judge = () => longLived;
    cluster.register(3, "still ahead", "alice", 7);
    cluster.pass(3_000);
    const named = { members: [{ peerId: 3, reason: "its clock differs by more than 5 s" }], outcomeUnknown: false };
    expect(cluster.answers.get("still ahead")).toMatchObject({ rejection: named });
    // It was set right between the request and the probe.
    cluster.register(3, "stamped ahead", "alice", 7);
    cluster.clockOffsets.clear();
    cluster.pass(3_000);
    const stamped = "its clock was off by more than 60 s when the request came in";
    expect(cluster.answers.get("stamped ahead")).toMatchObject({
      rejection: { members: [{ peerId: 3, reason: stamped }], outcomeUnknown: false },
    });
    cluster.register(3, "right", "alice", 7);
    cluster.pass(100);
    expect(cluster.answers.get("right")).toMatchObject({ _tag: "Registered", created: true });
  });

  it.each([1, 2, 3])(
    "goes on at once after the clock of peer %i was a day ahead, or behind, and had it sign",
    (peerId) => {
      const cluster = founded();
      for (const [index, offset] of [DAY, -DAY].entries()) {
        // All are, so that it signs, and then one alone is, with all that it has signed.
        cluster.clockOffset = offset;
        cluster.judge = () => longLived;
        cluster.register(1, `signed ${index}`, `signed-${index}`, 10 + index);
        cluster.pass(100);
        expect(cluster.answers.get(`signed ${index}`)).toMatchObject({ _tag: "Registered" });
        cluster.clockOffset = 0;
        cluster.clockOffsets.set(peerId, offset);
        cluster.register(2, `off ${index}`, `off-${index}`, 20 + index);
        cluster.pass(3_000);
        expect(cluster.answers.get(`off ${index}`)).toMatchObject({ rejection: { members: [{ peerId }] } });
        cluster.clockOffsets.clear();
        cluster.pass(Limits.probeAgeMillis + 1);
        cluster.register(3, `right ${index}`, `right-${index}`, 30 + index);
        cluster.pass(100);
        expect(cluster.answers.get(`right ${index}`)).toMatchObject({ _tag: "Registered", created: true });
      }
    },
  );

  it("of a mono instance is refused for its clock only while that is wrong", () => {
    const cluster = founded(1);
    cluster.clockOffset = DAY;
    cluster.register(1, "ahead", "alice", 7);
    cluster.pass(10);
    expect(codeOf(cluster, "ahead")).toBe("APPROVER_REPLICATION_UNAVAILABLE");
    cluster.clockOffset = 0;
    cluster.register(1, "right", "alice", 7);
    cluster.pass(10);
    expect(cluster.answers.get("right")).toMatchObject({ _tag: "Registered", created: true });
  });

  it("kept back and played again after a minute is ignored", () => {
    const cluster = founded();
    const forwards: Array<Message> = [];
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "Forward") forwards.push(message);
      return message._tag === "Forward" ? undefined : message;
    };
    cluster.register(3, "request", "alice", 7);
    cluster.pass(Limits.proposalMillis + 1_000);
    cluster.tamper = whole;
    const [copy] = forwards;
    if (copy !== undefined)
      cluster.peers.get(1)?.dispatch({ _tag: "Deliver", from: 3, message: copy, actors: [actor] });
    cluster.pass(2_000);
    expect(copy).toBeDefined();
    expect(approvers(cluster)).toEqual([0, 0, 0]);
  });
});
