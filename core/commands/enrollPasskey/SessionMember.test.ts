import { NEWEST } from "../../codec/Versioned.ts";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { enrollmentIn } from "./EnrollmentState.ts";
import { actor, Cluster, crypto, whole, rowsOf } from "../../../properties/cluster/Cluster.ts";
import { enrolling, options, relyingParty } from "../../../properties/cluster/Enrolling.ts";
import { stateOf } from "../../../properties/cluster/Restoring.ts";
import { heard, openStep } from "../../../properties/cluster/OpenStep.ts";
import type { ActorCheck } from "../../auth/ActorCheck.ts";
import type { Settings } from "../../protocol/Event.ts";
import { CAPACITIES } from "../../base/Capacities.ts";
import { Limits } from "../../base/Limits.ts";
import { requestLineOf } from "../../protocol/Forward.ts";
import type { Message } from "../../Message.ts";
import { freshRecovery } from "../../protocol/TakingOver.ts";
import type { Step } from "../../protocol/Step.ts";

const TTL = relyingParty.registrationTtlMillis;

const writesSince = (cluster: Cluster, from: number): number => cluster.committed.length - from;

/** The writer's own mirror message, intercepted, as the other members got it. */
const caughtMirror = (override: (peerId: number) => Partial<Settings> = () => ({})) => {
  const cluster = enrolling(3, override);
  const mirrors: Array<Extract<Message, { readonly _tag: "Session.Mirror" }>> = [];
  const votes: Array<Extract<Message, { readonly _tag: "Session.Votes" }>> = [];
  cluster.tamper = (_from, to, message) => {
    if (message._tag === "Session.Votes") votes.push(message);
    if (message._tag !== "Session.Mirror") return message;
    if (to === 2) mirrors.push(message);
    return undefined;
  };
  options(cluster, 3, "options");
  cluster.pass(100);
  const [mirror] = mirrors;
  const item = mirror?.items[0];
  if (mirror === undefined || item === undefined) throw new Error("no mirror was sent");
  const show = (items: (typeof mirror)["items"], to = 2, from = 1, judged: ActorCheck = actor): void => {
    const actors = items.map(() => judged);
    const message: Message = { _tag: "Session.Mirror", items };
    cluster.peers.get(to)?.dispatch({ _tag: "Deliver", from, message, actors });
    cluster.settle();
  };
  return { cluster, item, show, votes };
};

describe("attempts that some members acknowledge and others do not", () => {
  it("take room at the writer until they expire, so that no member is full first", () => {
    const cluster = enrolling(3);
    cluster.tamper = (_from, to, message) => (message._tag === "Session.Mirror" && to === 3 ? undefined : message);
    for (const round of ["first", "second"]) {
      for (let at = 0; at < CAPACITIES.sessionsPerRegistrar; at += 1) options(cluster, 2, `${round} ${at}`);
      cluster.pass(10_000);
    }
    expect(rowsOf(cluster, "sessions")).toEqual([0, 16, 0]);
    expect(enrollmentIn(stateOf(cluster, 1)).givenUp.size).toBe(16);
    cluster.pass(TTL);
    options(cluster, 2, "third");
    cluster.pass(10_000);
    expect(enrollmentIn(stateOf(cluster, 1)).givenUp.size).toBe(1);
  });

  it("take no room any more when a member was restored, so that nothing of them can be finished", () => {
    const cluster = enrolling(2);
    if (actor._tag !== "Verified") throw new Error();
    const { claims } = actor;
    cluster.tamper = (_from, _to, message) => (message._tag === "Session.Mirror" ? undefined : message);
    for (let at = 0; at < CAPACITIES.sessions; at += 1) {
      const sub = `registrar-${at}`;
      cluster.judge = () => ({ _tag: "Verified", claims: { ...claims, sub } });
      options(cluster, 1, `o${at}`);
    }
    cluster.judge = () => actor;
    options(cluster, 1, "one too many");
    cluster.settle();
    expect(cluster.answers.get("one too many")).toMatchObject({ rejection: { code: "SESSION_CAPACITY" } });
    cluster.pass(10_000);
    options(cluster, 1, "full");
    cluster.pass(1_000);
    expect(cluster.answers.get("full")).toMatchObject({ rejection: { code: "SESSION_CAPACITY" } });
    cluster.tamper = whole;
    cluster.peers.get(2)?.dispatch({ _tag: "DeclareRestore", requestId: "declare" });
    cluster.pass(20_000);
    options(cluster, 1, "later");
    cluster.pass(2_000);
    expect(cluster.answers.get("later")).toMatchObject({ _tag: "Offered" });
  });
});

describe("a member asked to keep a session", () => {
  type Item = ReturnType<typeof caughtMirror>["item"];
  const session = (change: Partial<Item["session"]>) => (item: Item) => ({
    ...item,
    session: { ...item.session, ...change },
  });
  const called = (change: Partial<Item["evidence"]["call"]>) => (item: Item) => ({
    ...item,
    evidence: { ...item.evidence, call: { ...item.evidence.call, ...change } },
  });
  /** A request that the writer claims came to itself: no other peer has to vouch for it. */
  const ofWriter =
    (rawBody: Uint8Array) =>
    (item: Item): Item => {
      const { session: shown, evidence } = called({ rawBody })(item);
      return {
        session: { ...shown, entryPeer: 1, request: requestLineOf(evidence.call, crypto) },
        evidence: { ...evidence, entryPeer: 1, attestation: undefined },
      };
    };
  it.each<readonly [string, (item: Item) => Item, string]>([
    ["another id", session({ id: "mallory" }), "WRONG_SESSION"],
    ["other metadata", session({ metadata: [["team", "x"]] }), "WRONG_SESSION"],
    ["less metadata than was asked for", session({ metadata: [] }), "WRONG_SESSION"],
    ["another relying party", session({ rpId: "evil.example" }), "WRONG_SESSION"],
    ["another origin", session({ origins: ["https://evil.example"] }), "WRONG_SESSION"],
    ["no origin", session({ origins: [] }), "WRONG_SESSION"],
    ["a short challenge", session({ challenge: new Uint8Array(31) }), "WRONG_SESSION"],
    ["a short user handle", session({ userHandle: new Uint8Array(0) }), "WRONG_SESSION"],
    ["another registrar", session({ registrar: { iss: undefined, sub: "x", jti: undefined } }), "WRONG_ACTOR"],
    ["another request", session({ requestId: "x" }), "WRONG_REQUEST"],
    [
      "a request of another body",
      (item) => session({ request: { ...item.session.request, bodyDigest: "00".repeat(32) as never } })(item),
      "WRONG_REQUEST",
    ],
    ["another entry peer", session({ entryPeer: 2 }), "NOT_ATTESTED"],
    ["a version that is not spoken here", session({ version: NEWEST + 1 }), "VERSION_NOT_SPOKEN"],
    ["another configuration", session({ configDigest: "00".repeat(32) as never }), "CONFIGURATION_DIFFERS"],
    ["another cluster", session({ clusterId: "00".repeat(32) as never }), "WRONG_TOPOLOGY"],
    ["another epoch", session({ epoch: 2 }), "WRONG_TOPOLOGY"],
    ["another topology", session({ topologyDigest: "00".repeat(32) as never }), "WRONG_TOPOLOGY"],
    ["another writer", session({ writer: 3 }), "WRONG_TOPOLOGY"],
    ["an incarnation that nobody has", session({ incarnations: [1, 2, 1] }), "WRONG_INCARNATION"],
    ["an incarnation too few", session({ incarnations: [1, 1] }), "WRONG_INCARNATION"],
    [
      "a longer incarnation than configured",
      (item) => session({ expiresAt: item.session.expiresAt + 1 })(item),
      "EXPIRED",
    ],
    [
      "a shorter incarnation than configured",
      (item) => session({ expiresAt: item.session.expiresAt - 1 })(item),
      "EXPIRED",
    ],
    ["the future", (item) => session({ createdAt: item.session.createdAt + 6_000 })(item), "CLOCK_SKEW"],
    [
      "an old request",
      (item) => {
        const age = Limits.proposalMillis + 200;
        const { createdAt, expiresAt } = item.session;
        return session({ createdAt: createdAt - age, expiresAt: expiresAt - age })(item);
      },
      "STALE_REQUEST",
    ],
    ["a request that is none for options", called({ path: "/" }), "WRONG_REQUEST"],
    ["a request that is none by its method", called({ method: "GET" }), "WRONG_REQUEST"],
    ["a request that nobody can read", ofWriter(utf8ToBytes("{}")), "INVALID_REQUEST_BODY"],
  ])("refuses %s and writes nothing", (_what, bend, code) => {
    const { cluster, item, show, votes } = caughtMirror();
    const before = cluster.committed.length;
    show([bend(item)]);
    expect(writesSince(cluster, before)).toBe(0);
    expect(votes.at(-1)).toMatchObject({ acks: [], refusals: [{ code }] });
  });

  it.each<readonly [string, (item: Item, now: number) => number]>([
    ["as far ahead as clocks may differ", (_item, now) => now + Limits.clockSkewMillis],
    ["as long before its request as may be", ({ evidence }) => evidence.receivedAt - Limits.proposalMillis],
  ])("keeps one that was made %s", (_what, at) => {
    const { cluster, item, show, votes } = caughtMirror();
    const createdAt = at(item, cluster.now);
    show([session({ createdAt, expiresAt: createdAt + TTL })(item)]);
    expect(votes.at(-1)).toMatchObject({ acks: [{}], refusals: [] });
  });

  it("refuses whatever it is shown where it enrolls nobody", () => {
    const { item, show, votes } = caughtMirror((peerId) => (peerId === 2 ? { relyingParty: undefined } : {}));
    show([item]);
    expect(votes.at(-1)).toMatchObject({ acks: [], refusals: [{ code: "EXPIRED" }] });
  });

  it.each<readonly [string, (step: Step) => void, number]>([
    ["answers the writer", () => undefined, 1],
    ["says nothing where its records do not hold", (step) => (step.draft("fitness").integrityFault = "keys/k"), 0],
    ["says nothing while it joins", (step) => step.edit("rejoining", "unproven").add(3), 0],
    [
      "says nothing while it is being restored",
      (step) => (step.draft("rejoining").recovery = freshRecovery("the test")),
      0,
    ],
  ])("%s", (_what, prepare, said) => {
    const { cluster, item } = caughtMirror();
    const step = openStep(cluster, 2, cluster.now);
    prepare(step);
    expect(heard(step, 1, { _tag: "Session.Mirror", items: [item] }, [actor]).thenSend).toHaveLength(said);
  });

  it("refuses a registrar who may not, and answers nothing while it cannot tell", () => {
    const { cluster, item, show, votes } = caughtMirror();
    show([item], 2, 1, { _tag: "Unavailable" });
    expect(votes).toHaveLength(0);
    show([item], 2, 1, { _tag: "Refused", reason: "it is forged" });
    expect(votes.at(-1)).toMatchObject({ refusals: [{ code: "UNAUTHENTICATED" }] });
    expect(rowsOf(cluster, "sessions")).toEqual([0, 0, 0]);
  });

  it("keeps few sessions for one request: a captured one fills no disk", () => {
    const { cluster, item, show, votes } = caughtMirror();
    const named = (at: number) => session({ registrationId: at.toString(16).padStart(64, "0") as never })(item);
    show(Array.from({ length: 3 }, (_, at) => named(at)));
    show(Array.from({ length: 64 }, (_, at) => named(at)));
    expect(rowsOf(cluster, "sessions")).toEqual([0, CAPACITIES.sessionsOfRequest, 0]);
    expect(votes.at(-1)?.refusals[0]?.code).toBe("REQUEST_REPEATED");
  });

  it("keeps 1,024 that have not expired, however many requests a writer shows, and has room when they have", () => {
    expect(CAPACITIES.mirroredSessions).toBe(1024);
    const { cluster, item, show, votes } = caughtMirror();
    const requests: Array<Item["evidence"]> = [];
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "Forward") requests.push(message.forward);
      if (message._tag === "Session.Votes") votes.push(message);
      return undefined;
    };
    const wanted = CAPACITIES.mirroredSessions / CAPACITIES.sessionsOfRequest + 1;
    for (let at = 0; at < wanted; at += 1) {
      // One after the other, as from a writer that takes them up and answers none.
      const {
        requests: { awaited },
      } = stateOf(cluster, 3);
      if (awaited instanceof Map) awaited.clear();
      options(cluster, 3, `request ${at}`);
    }
    cluster.settle();
    expect(requests).toHaveLength(wanted);
    /** Sessions of a request invented by a lying writer: no other peer ever heard of these. */
    const made = requests.map((evidence, request) =>
      Array.from({ length: CAPACITIES.sessionsOfRequest }, (_, at) => {
        const registrationId = (request * CAPACITIES.sessionsOfRequest + at).toString(16).padStart(64, "0") as never;
        return { ...session({ registrationId, requestId: evidence.requestId })(item), evidence };
      }),
    );
    const [last = [], ...others] = made.toReversed();
    const all = others.flat();
    for (let at = 0; at < all.length; at += 64) show(all.slice(at, Math.min(at + 64, all.length - 1)));
    expect(rowsOf(cluster, "sessions")).toEqual([0, CAPACITIES.mirroredSessions - 1, 0]);
    expect(votes.flatMap(({ refusals }) => refusals)).toEqual([]);
    // The last place, and one too many beside it.
    show([...all.slice(-1), ...last.slice(0, 1)]);
    expect(votes.at(-1)).toMatchObject({ acks: [{}], refusals: [{ code: "SESSION_CAPACITY" }] });
    show(last.slice(1, 2));
    expect(votes.at(-1)).toMatchObject({ acks: [], refusals: [{ code: "SESSION_CAPACITY" }] });
    expect(rowsOf(cluster, "sessions")).toEqual([0, CAPACITIES.mirroredSessions, 0]);
    cluster.tamper = whole;
    cluster.pass(TTL);
    options(cluster, 3, "later");
    cluster.pass(2_000);
    expect(cluster.answers.get("later")).toMatchObject({ _tag: "Offered" });
  });

  it("listens to the writer only", () => {
    const { cluster, item, show, votes } = caughtMirror();
    show([item], 2, 3);
    show([item], 1, 2);
    expect(votes).toHaveLength(0);
    expect(rowsOf(cluster, "sessions")).toEqual([0, 0, 0]);
  });

  it("acknowledges the same body again with the stored statement, after a restart too, and writes nothing", () => {
    const { cluster, item, show, votes } = caughtMirror();
    show([item]);
    const before = cluster.committed.length;
    show([item]);
    show([item, item]);
    expect(writesSince(cluster, before)).toBe(0);
    cluster.peers.get(2)?.stop();
    cluster.start(2);
    cluster.pass(3_000);
    const restarted = cluster.committed.length;
    show([item]);
    expect(writesSince(cluster, restarted)).toBe(0);
    expect(new Set(votes.flatMap((each) => each.acks.map(({ signature }) => signature))).size).toBe(1);
  });

  it("keeps one body of a name: an equivocating writer gets no second one, not in one message either", () => {
    for (const together of [true, false]) {
      const { cluster, item, show, votes } = caughtMirror();
      const other = session({ challenge: new Uint8Array(32).fill(7) })(item);
      if (together) show([item, other]);
      else for (const each of [item, other]) show([each]);
      expect(votes.flatMap((each) => each.refusals)).toMatchObject([{ code: "REGISTRATION_TAKEN" }]);
      expect(rowsOf(cluster, "sessions")).toEqual([0, 1, 0]);
    }
  });

  it("keeps a session that comes at its very deadline, as soon as it can tell who asked for it", () => {
    const { cluster, item, show, votes } = caughtMirror();
    cluster.now = item.session.expiresAt;
    show([item], 2, 1, { _tag: "Unavailable" });
    expect(votes).toHaveLength(0);
    show([item]);
    expect(votes).toMatchObject([{ acks: [{}], refusals: [] }]);
  });

  it("refuses a session that comes after its deadline, whoever asked for it", () => {
    const { cluster, item, show, votes } = caughtMirror();
    cluster.now = item.session.expiresAt + 1;
    for (const judged of [actor, { _tag: "Unavailable" }] as const) {
      show([item], 2, 1, judged);
      expect(votes.at(-1)).toMatchObject({ refusals: [{ code: "EXPIRED" }] });
    }
    expect(votes).toHaveLength(2);
  });
});
