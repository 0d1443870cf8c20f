import { describe, expect, it } from "vitest";
import { type Cluster, actor, Cluster as TestCluster, founded } from "../../properties/cluster/Cluster.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import type { ActorCheck } from "../auth/ActorCheck.ts";
import { CAPACITIES } from "../base/Capacities.ts";
import { Limits } from "../base/Limits.ts";
import { inTurn, makingRoom, noPace, type Pace, paced, placesAt, type Share } from "./Admission.ts";

const room = { requests: 4, bytes: 32 * 1024 * 1024 };
const share = (name: string, bytes = 0): Share => ({ actor: name, bytes });
const shares = (names: string): ReadonlyArray<Share> => [...names].map((name) => share(name));
const going = (waiting: string, arrival: string, besides = "") => {
  const found = makingRoom(shares(waiting), share(arrival), shares(besides), room);
  return found && [...found];
};

describe("room for one more", () => {
  it("is made by nobody while there is some", () => {
    expect(going("aaa", "a")).toEqual([]);
    expect(going("aa", "b", "c")).toEqual([]);
  });

  it("is not made for an actor that holds most itself: the newest is turned away", () => {
    expect(going("aaaa", "a")).toBeUndefined();
    expect(going("aabb", "b")).toBeUndefined();
  });

  it("is made by the newest of whoever holds most", () => {
    expect(going("aaaa", "b")).toEqual([3]);
    expect(going("aaba", "b")).toEqual([3]);
    expect(going("abaa", "c")).toEqual([3]);
    expect(going("aaab", "c")).toEqual([2]);
  });

  it("is not made where shares would be equal or larger afterwards", () => {
    expect(going("aabb", "a")).toBeUndefined();
    expect(going("abcd", "a")).toBeUndefined();
    expect(going("abcd", "e")).toBeUndefined();
  });

  it("counts what cannot go, and takes nothing from it", () => {
    expect(going("b", "b", "aaa")).toBeUndefined();
    expect(going("ab", "b", "aa")).toEqual([0]);
  });

  it("is counted in bytes too: a large body weighs as much as many requests", () => {
    const large = room.bytes / 2;
    const found = makingRoom([share("a", large), share("b"), share("a", large)], share("b", 1), [], room);
    expect(found && [...found]).toEqual([2]);
    expect(makingRoom([share("b"), share("b")], share("a", room.bytes + 1), [], room)).toBeUndefined();
  });
});

describe("those who wait", () => {
  const turns = (waiting: string, underWay: ReadonlyArray<readonly [string, number]> = []): string =>
    inTurn(
      [...waiting].map((name, index) => `${name}${index}`),
      ([name = ""]) => name,
      new Map(underWay),
    ).join(" ");

  it("are served in the order in which they came, the first of each actor before the second of any", () => {
    expect(turns("aaa")).toBe("a0 a1 a2");
    expect(turns("aaabb")).toBe("a0 b3 a1 b4 a2");
  });

  it("stand behind what their actor has under way", () => {
    expect(turns("aabb", [["a", 1]])).toBe("b2 a0 b3 a1");
  });
});

describe("the pace of a line", () => {
  it("is what one took of late while others had to wait", () => {
    const busy = paced(noPace, 1_000, 10, 900, true);
    expect(busy).toMatchObject({ millis: 0, busySince: 1_000 });
    const once = paced(busy, 1_400, 40, 900, true);
    expect(once).toEqual({ millis: 10, busySince: 1_400, knownAt: 1_400 });
    expect(paced(once, 1_800, 20, 1_300, false)).toEqual({ millis: 12.5, busySince: undefined, knownAt: 1_800 });
  });

  it("is measured by nothing that leaves at the same moment, nor by the time in which nobody was ready", () => {
    const busy = { millis: 10, busySince: 1_000, knownAt: 1_000 };
    expect(paced(busy, 1_000, 5, 900, false)).toEqual({ ...busy, busySince: undefined });
    expect(paced(busy, 1_000, 5, 900, true)).toEqual(busy);
    // The line was emptied otherwise; the next one comes ten minutes later and leaves at once.
    expect(paced(busy, 601_000, 1, 601_000, false)).toMatchObject({ millis: 7.5, busySince: undefined });
    // Whoever is left waits for something else.
    expect(paced(busy, 9_000, 0, 900, false)).toEqual({ ...busy, busySince: undefined });
  });

  it("wears off a step a second where nobody has to wait: else a short line would never be measured again", () => {
    let pace: Pace = { millis: 1_000, busySince: undefined, knownAt: 9_000 };
    for (let at = 9_000; at < 12_000; at += 10) pace = paced(pace, at, 1, at, false);
    expect(pace.millis).toBe(562.5);
    for (let at = 12_000; at < 60_000; at += 1_000) pace = paced(pace, at, 1, at, false);
    expect(pace.millis).toBe(0);
  });

  it("bounds the line to who is served within half of what a caller waits, and never below a round", () => {
    const places = (millis: number): number => placesAt({ millis }, CAPACITIES, 9_000);
    expect([places(0), places(1), places(10), places(1_000)]).toEqual([1_024, 1_024, 450, 64]);
  });
});

describe("a cluster with sixteen places a peer", () => {
  const crowdedCluster = (): Cluster => {
    const cluster = new TestCluster(3, () => ({ capacities: { ...CAPACITIES, queuedCommands: 16 } }));
    cluster.pass(2_000);
    return cluster;
  };
  const as = (sub: string): ActorCheck => {
    if (actor._tag !== "Verified") throw new Error("the test actor is verified");
    return { _tag: "Verified", claims: { ...actor.claims, sub } };
  };
  const answersOf = (cluster: Cluster, prefix: string) =>
    [...cluster.answers].flatMap(([name, answer]) =>
      name.startsWith(prefix) ? [answer._tag === "Rejected" ? answer.rejection.code : answer._tag] : [],
    );

  it.each([1, 3])("serves an actor with one request through peer %i although another fills every place", (through) => {
    const cluster = crowdedCluster();
    cluster.judge = () => as("many");
    for (let seed = 1; seed <= 40; seed += 1) cluster.register(through, `many ${seed}`, `id-${seed}`, seed);
    cluster.judge = () => as("one");
    cluster.register(through, "one", "alice", 77);
    expect(cluster.answers.has("one")).toBe(false);
    // The members judge every token as that one; the test is about admission.
    cluster.pass(5_000);
    expect(answersOf(cluster, "one")).toEqual(["Registered"]);
    const refused = answersOf(cluster, "many").filter((each) => each === "REQUEST_CAPACITY");
    expect(refused.length).toBeGreaterThanOrEqual(24);
  });

  it("keeps what waits at the entry peer from the writer, and does it in the end", () => {
    const cluster = crowdedCluster();
    cluster.tamper = (_from, _to, message) => (message._tag === "Outcome" ? undefined : message);
    for (let seed = 1; seed <= 10; seed += 1) cluster.register(3, `r${seed}`, `id-${seed}`, seed);
    cluster.settle();
    const {
      requests: { awaited, entering },
    } = stateOf(cluster, 3);
    expect([awaited.size, entering.length]).toEqual([2, 8]);
    cluster.tamper = (_from, _to, message) => message;
    cluster.pass(8_000);
    expect(answersOf(cluster, "r")).toEqual(Array.from({ length: 10 }, () => "Registered"));
  });

  it("sends no further ahead of a forward that the writer has not acknowledged than its memory reaches", () => {
    const cluster = crowdedCluster();
    let lost = "";
    cluster.tamper = (_from, _to, message) => {
      if (message._tag !== "Forward") return message;
      if (lost === "") lost = message.forward.requestId;
      return message.forward.requestId === lost ? undefined : message;
    };
    for (let seed = 1; seed <= 16; seed += 1) {
      cluster.register(3, `r${seed}`, `id-${seed}`, seed);
      cluster.settle();
    }
    const {
      requests: { awaited, entering, forwarded },
    } = stateOf(cluster, 3);
    expect([lost, awaited.size, forwarded, entering.length]).toEqual(["r1", 1, 9, 7]);
  });
});

describe("a writer that answers nothing in time but says something", () => {
  it("is busy, and not away: its callers are told so, and nothing of a peer that does not answer", () => {
    const cluster = founded();
    cluster.tamper = (from, _to, message) =>
      from === 1 && (message._tag === "Forwarded" || message._tag === "Outcome") ? undefined : message;
    cluster.register(3, "request", "alice", 7);
    for (let time = 0; time < 12; time += 1) {
      cluster.peers.get(1)?.dispatch({ _tag: "CheckReadiness", requestId: `ready ${time}` });
      cluster.pass(Limits.probeAgeMillis + 1);
    }
    expect(cluster.answers.get("request")).toMatchObject({
      rejection: { detail: expect.stringContaining("The writer has not answered in time"), members: [] },
    });
  });

  it("and a member that is there but slow is not called silent", () => {
    const cluster = founded();
    cluster.tamper = (from, _to, message) => (from === 3 && message._tag === "Ready" ? undefined : message);
    cluster.register(1, "request", "alice", 7);
    cluster.pass(500);
    cluster.register(3, "through it", "bob", 8);
    cluster.pass(2 * Limits.probeWaitMillis);
    expect(cluster.answers.get("request")).toMatchObject({
      rejection: { members: [{ peerId: 3, reason: "it is there and answers too slowly" }] },
    });
  });
});
