import { describe, expect, it } from "vitest";
import { enrollmentIn } from "./EnrollmentState.ts";
import { offers } from "./SessionMessages.ts";
import { actor, Cluster, NOW, whole, rowsOf } from "../../../properties/cluster/Cluster.ts";
import {
  credential,
  enrolling,
  finish,
  offerOf,
  options,
  relyingParty,
} from "../../../properties/cluster/Enrolling.ts";
import { stateOf } from "../../../properties/cluster/Restoring.ts";
import type { ActorCheck } from "../../auth/ActorCheck.ts";
import { CAPACITIES } from "../../base/Capacities.ts";
import { Limits } from "../../base/Limits.ts";
import type { Message } from "../../Message.ts";

const HOUR = Limits.sessionRetentionMillis;
const TTL = relyingParty.registrationTtlMillis;

const expiring = (inMillis: number): ActorCheck => {
  if (actor._tag !== "Verified") throw new Error("the test actor is verified");
  return { _tag: "Verified", claims: { ...actor.claims, expiresAt: NOW + inMillis } };
};

describe("options", () => {
  it.each([1, 2, 3])("are answered by a cluster of %i when every member keeps the session", (total) => {
    const cluster = enrolling(total);
    for (let through = 1; through <= total; through++) {
      const offer = offerOf(cluster, through, `options-${through}`);
      expect(rowsOf(cluster, "sessions")).toEqual(Array(total).fill(through));
      expect(offer.expiresAt).toBe(cluster.now + TTL);
      expect(offer.publicKey).toMatchObject({ rp: { id: "localhost" }, user: { name: "alice" }, timeout: TTL });
      for (const text of [offer.invitation, offer.registrationId, offer.publicKey.challenge, offer.publicKey.user.id])
        expect(text).toMatch(/^[A-Za-z0-9_-]{43}$/);
    }
  });

  it("give every request secrets of its own, two of one step too", () => {
    const cluster = enrolling(3);
    for (const requestId of ["a", "b", "c"]) options(cluster, 1, requestId);
    cluster.pass(1_000);
    const secrets = ["a", "b", "c"].flatMap((requestId) => {
      const answer = cluster.answers.get(requestId);
      if (answer?._tag !== "Offered") throw new Error(answer?._tag);
      return [answer.offer.invitation, answer.offer.publicKey.challenge, answer.offer.publicKey.user.id];
    });
    expect(new Set(secrets).size).toBe(9);
  });

  it.each<readonly [string, unknown, string]>([
    ["no id", {}, "INVALID_REQUEST_BODY"],
    ["an id that is none", { id: "-" }, "INVALID_REQUEST_BODY"],
    ["a field nobody knows", { id: "alice", rpId: "evil.example" }, "INVALID_REQUEST_BODY"],
    ["metadata over a limit", { id: "alice", metadata: { k: "x".repeat(513) } }, "INVALID_METADATA"],
  ])("are refused for %s", (_what, body, code) => {
    const cluster = enrolling(1);
    options(cluster, 1, "options", body);
    cluster.pass(100);
    expect(cluster.answers.get("options")).toMatchObject({ rejection: { code } });
  });

  it("are refused while enrollment is disabled, without the permission, and under a token that ends too soon", () => {
    const disabled = new Cluster(1);
    disabled.pass(2_000);
    options(disabled, 1, "options");
    expect(disabled.answers.get("options")).toMatchObject({ rejection: { code: "WEBAUTHN_DISABLED" } });
    const cluster = enrolling(2);
    if (actor._tag !== "Verified") throw new Error();
    const { claims } = actor;
    cluster.judge = () => ({ _tag: "Verified", claims: { ...claims, permissions: ["service.approvers.metadata"] } });
    options(cluster, 1, "forbidden");
    cluster.judge = () => expiring(6_999);
    options(cluster, 1, "short");
    cluster.pass(100);
    expect(cluster.answers.get("forbidden")).toMatchObject({ rejection: { code: "ACCESS_DENIED" } });
    expect(cluster.answers.get("short")).toMatchObject({ rejection: { code: "UNAUTHENTICATED" } });
    expect(rowsOf(cluster, "sessions")).toEqual([0, 0]);
  });

  it("are 503 by name where a member is down, or does not keep the session in time", () => {
    const cluster = enrolling(3);
    cluster.tamper = (_from, to, message) => (message._tag === "Session.Mirror" && to === 3 ? undefined : message);
    options(cluster, 2, "silent");
    cluster.pass(10_000);
    expect(cluster.answers.get("silent")).toMatchObject({
      rejection: {
        code: "APPROVER_REPLICATION_UNAVAILABLE",
        outcomeUnknown: false,
        members: [{ peerId: 3, reason: "it has not acknowledged the session" }],
      },
    });
    // Member 2 keeps a session of the attempt for which nobody has the invitation; the writer keeps nothing.
    expect(rowsOf(cluster, "sessions")).toEqual([0, 1, 0]);
    cluster.peers.get(3)?.stop();
    cluster.tamper = whole;
    options(cluster, 2, "down");
    cluster.pass(4_000);
    expect(cluster.answers.get("down")).toMatchObject({ rejection: { members: [{ peerId: 3 }] } });
  });

  it("come through although a mirror, its answer or the outcome is lost, and make one session", () => {
    for (const tag of ["Session.Mirror", "Session.Votes", "Outcome", "Forward"]) {
      const cluster = enrolling(3);
      let lost = 0;
      cluster.tamper = (_from, _to, message) => (message._tag === tag && lost++ === 0 ? undefined : message);
      options(cluster, 3, "options");
      cluster.pass(4_000);
      expect(cluster.answers.get("options"), tag).toMatchObject({ _tag: "Offered" });
      expect(rowsOf(cluster, "sessions"), tag).toEqual([1, 1, 1]);
    }
  });

  it("are believed by the entry peer only with every acknowledgement, its own row and the very invitation", () => {
    for (const bend of ["acks", "order", "invitation", "request", "session"] as const) {
      const cluster = enrolling(3);
      cluster.tamper = (_from, _to, message) => {
        if (message._tag !== "Outcome" || message.outcome._tag !== "Exchanged") return message;
        const offered = offers.decode(message.outcome.answer);
        if (offered === undefined) throw new Error("what the writer offers can be read");
        const { session, acks } = offered;
        const bent = {
          acks: { acks: acks.slice(1) },
          order: { acks: acks.toReversed() },
          invitation: { invitation: new Uint8Array(32).fill(1) },
          request: { session: { ...session, requestId: "another" } },
          session: { session: { ...session, metadata: [["team", "b"]] as const } },
        };
        return { ...message, outcome: { ...message.outcome, answer: offers.encode({ ...offered, ...bent[bend] }) } };
      };
      options(cluster, 3, "options");
      cluster.pass(1_000);
      expect(cluster.answers.has("options"), bend).toBe(false);
    }
  });

  it("are refused past 8 unfinished sessions of one registrar, and again possible when some have expired", () => {
    const cluster = enrolling(2);
    // All at once, so that sessions on their way count too.
    for (let count = 1; count <= 10; count++) options(cluster, (count % 2) + 1, `o${count}`);
    cluster.pass(2_000);
    const tags = Array.from({ length: 10 }, (_, index) => cluster.answers.get(`o${index + 1}`)?._tag);
    expect(tags.filter((tag) => tag === "Offered")).toHaveLength(CAPACITIES.sessionsPerRegistrar);
    expect([...cluster.answers.values()]).toContainEqual(
      expect.objectContaining({ rejection: expect.objectContaining({ code: "SESSION_CAPACITY" }) }),
    );
    if (actor._tag !== "Verified") throw new Error();
    const { claims } = actor;
    cluster.judge = () => ({ _tag: "Verified", claims: { ...claims, sub: "another" } });
    offerOf(cluster, 2, "other");
    cluster.judge = () => actor;
    cluster.pass(TTL);
    offerOf(cluster, 2, "later");
    expect(rowsOf(cluster, "sessions")).toEqual([10, 10]);
  });

  it("count for a registrar of their own issuer, on their way and stored", () => {
    const cluster = enrolling(2);
    if (actor._tag !== "Verified") throw new Error();
    const { claims } = actor;
    const ofIssuer = (iss: string): ActorCheck => ({ _tag: "Verified", claims: { ...claims, iss } });
    // The other member's results for the tokens of the requests it is shown, one after the other.
    const shown: Array<string> = [];
    const ask = (iss: string, requestId: string): void => {
      cluster.judge = (peerId) => ofIssuer(peerId === 1 ? iss : (shown.shift() ?? "nobody"));
      options(cluster, 1, requestId);
      shown.push(iss);
    };
    const full = Array.from({ length: CAPACITIES.sessionsPerRegistrar }, (_, at) => `one ${at}`);
    for (const requestId of full) ask("one", requestId);
    ask("another", "at once");
    cluster.settle();
    ask("another", "later");
    cluster.settle();
    for (const requestId of [...full, "at once", "later"])
      expect(cluster.answers.get(requestId), requestId).toMatchObject({ _tag: "Offered" });
  });

  it("are refused past 256 unexpired sessions at the writer, whoever asks, and again possible when they have expired", () => {
    expect(CAPACITIES.sessions).toBe(256);
    const cluster = enrolling(1);
    if (actor._tag !== "Verified") throw new Error();
    const { claims } = actor;
    const ask = (at: number): void => {
      const sub = `registrar-${Math.floor(at / CAPACITIES.sessionsPerRegistrar)}`;
      cluster.judge = () => ({ _tag: "Verified", claims: { ...claims, sub } });
      options(cluster, 1, `o${at}`);
      cluster.settle();
    };
    for (let at = 0; at < CAPACITIES.sessions; at += 1) ask(at);
    expect([...cluster.answers.values()].filter(({ _tag }) => _tag === "Offered")).toHaveLength(CAPACITIES.sessions);
    ask(CAPACITIES.sessions);
    expect(cluster.answers.get(`o${CAPACITIES.sessions}`)).toMatchObject({
      rejection: { code: "SESSION_CAPACITY", detail: "There are 256 enrollments that have not expired." },
    });
    expect(rowsOf(cluster, "sessions")).toEqual([CAPACITIES.sessions]);
    cluster.pass(TTL + 1);
    ask(CAPACITIES.sessions + 1);
    expect(cluster.answers.get(`o${CAPACITIES.sessions + 1}`)).toMatchObject({ _tag: "Offered" });
  });

  it.each([
    ["the same writer", false],
    ["a writer that was started again meanwhile", true],
  ])("that a member refused make no session when a duplicate of them comes to %s", (_who, isRestarted) => {
    const cluster = enrolling(3);
    let copy: Message | undefined;
    cluster.tamper = (_from, to, message) => {
      if (message._tag === "Forward" && to === 1) copy = message;
      return message;
    };
    cluster.judge = (peerId) => (peerId === 3 ? { _tag: "Refused", reason: "its clock is ahead" } : actor);
    options(cluster, 2, "options");
    cluster.pass(1_000);
    expect(cluster.answers.get("options")).toMatchObject({ rejection: { code: "UNAUTHENTICATED" } });
    cluster.judge = () => actor;
    if (isRestarted) {
      cluster.peers.get(1)?.stop();
      cluster.start(1);
      cluster.pass(1_000);
    }
    const before = rowsOf(cluster, "sessions");
    if (copy === undefined) return expect.unreachable("nothing was forwarded");
    cluster.peers.get(1)?.dispatch({ _tag: "Deliver", from: 2, message: copy, actors: [actor] });
    cluster.pass(1_000);
    expect(rowsOf(cluster, "sessions")).toEqual(before);
  });

  it("have room where sessions are void, because a member was restored or a clock was ahead", () => {
    for (const what of ["restore", "clock"] as const) {
      const cluster = enrolling(what === "restore" ? 3 : 1);
      cluster.judge = () => expiring(100 * HOUR);
      if (what === "clock") cluster.clockOffset = 24 * HOUR;
      const offers = Array.from({ length: CAPACITIES.sessionsPerRegistrar }, (_, at) => offerOf(cluster, 1, `o${at}`));
      if (what === "restore") cluster.peers.get(3)?.dispatch({ _tag: "DeclareRestore", requestId: "declare" });
      else {
        cluster.clockOffset = 0;
        cluster.peers.get(1)?.stop();
        cluster.start(1);
      }
      cluster.pass(20_000);
      const [offer] = offers;
      if (offer === undefined) return expect.unreachable("nothing was offered");
      finish(cluster, 1, "finish", offer.invitation, credential(offer));
      cluster.pass(1_000);
      expect(cluster.answers.get("finish"), what).toMatchObject({ rejection: { code: "REGISTRATION_EXPIRED" } });
      options(cluster, 1, "later");
      cluster.pass(2_000);
      expect(cluster.answers.get("later"), what).toMatchObject({ _tag: "Offered" });
    }
  });

  it("leave no invitation in the writer's memory past its deadline, once another request comes through a member", () => {
    const cluster = enrolling(2);
    offerOf(cluster, 2, "first");
    offerOf(cluster, 2, "second");
    expect(enrollmentIn(stateOf(cluster, 1)).offered.size).toBe(2);
    cluster.pass(TTL + 1);
    cluster.register(2, "register", "bob", 8);
    cluster.pass(1_000);
    expect(enrollmentIn(stateOf(cluster, 1)).offered.size).toBe(0);
  });

  it("forget a session an hour past its deadline, with the next one that is written", () => {
    const cluster = enrolling(2);
    cluster.judge = () => expiring(3 * HOUR);
    offerOf(cluster, 1, "first");
    cluster.pass(TTL + HOUR + 1_000);
    expect(rowsOf(cluster, "sessions")).toEqual([1, 1]);
    offerOf(cluster, 1, "second");
    expect(rowsOf(cluster, "sessions")).toEqual([1, 1]);
  });
});
