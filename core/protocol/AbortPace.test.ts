/** How fast a peer helps to abort proposals, and what it does about those that come sooner. */
import { describe, expect, it } from "vitest";
import { actor, Cluster, codeOf, crypto } from "../../properties/cluster/Cluster.ts";
import { receiptOfWriter } from "../../properties/cluster/Forging.ts";
import { heard, openStep } from "../../properties/cluster/OpenStep.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import type { ActorCheck } from "../auth/ActorCheck.ts";
import { CAPACITIES, type Capacities } from "../base/Capacities.ts";
import { Limits } from "../base/Limits.ts";
import type { MessageOf } from "../Message.ts";
import { refusalOf } from "./Abort.ts";
import { proposalId } from "./Proposal.ts";

const MOST = 4;
/** Between a request and what comes of it, with a settlement. */
const SOON = 200;

/** A cluster whose peers may help to abort four proposals at once. */
const paced = (more: Partial<Capacities> = {}): Cluster => {
  const cluster = new Cluster(3, () => ({ capacities: { ...CAPACITIES, aborts: MOST, ...more } }));
  cluster.pass(2_000);
  return cluster;
};

/** Proposals that a peer has an outcome of, or is still to have. */
const endedAt = (cluster: Cluster, peerId: number): number =>
  (cluster.tables.get(peerId)?.get("slots")?.size ?? 0) + (cluster.tables.get(peerId)?.get("strays")?.size ?? 0);

/** The writer proposes so much more than it is asked for, which every member has to refuse. */
const goOn = (cluster: Cluster, more: number): void => {
  cluster.tamper = (from, _to, message) => {
    if (from !== 1 || message._tag !== "Prepare") return message;
    const items = message.items.flatMap((item) => [
      item,
      ...Array.from({ length: more }, (_, index) => {
        const proposal = { ...item.proposal, requestId: `false-${index}`, seq: item.proposal.seq + 100 + index };
        return { ...item, proposal, receipt: receiptOfWriter(cluster, proposal, item.receipt) };
      }),
    ]);
    return { ...message, items };
  };
};

describe("a member whose writer proposes without end", () => {
  it("refuses as many as it may help to abort at once, says nothing of the others, and refuses one more a second", () => {
    const cluster = paced();
    goOn(cluster, 32);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    // The true one is applied, and what it might have been unable to abort beside that it did not begin.
    expect(codeOf(cluster, "request")).toBe("Registered");
    expect(endedAt(cluster, 2)).toBe(MOST);
    const counts = [0, 1, 2].map(() => {
      const before = endedAt(cluster, 2);
      cluster.pass(Limits.abortMillis);
      goOn(cluster, 32);
      cluster.register(1, `more-${cluster.now}`, `id-${cluster.now}`, cluster.now % 251);
      cluster.settle();
      return endedAt(cluster, 2) - before;
    });
    // Each time the true one, one for the second, and one because the true one was applied.
    for (const count of counts) expect(count).toBeLessThanOrEqual(3);
    expect(Math.max(...counts)).toBeGreaterThan(0);
  });
});

describe("a member that may help to abort no more", () => {
  const { cluster, preparation } = prepared();
  const { proposal, writerReceipt } = preparation;
  const next = { ...proposal, seq: proposal.seq + 1 };
  const receipt = receiptOfWriter(cluster, next, writerReceipt);
  const message: MessageOf<"Prepare"> = {
    _tag: "Prepare",
    items: [{ proposal: next, receipt, evidence: undefined as never }],
    stableSeq: 0,
  };
  /** A step of peer 3 that has taken part in so many aborts just now. */
  const after = (aborts: number) => {
    const step = openStep(cluster, 3);
    step.draft("undecided").abortsUntil = aborts * Limits.abortMillis;
    step.draft("undecided").preparations = new Map();
    return step;
  };
  const told = (aborts: number) =>
    heard(after(aborts), 1, { ...message, items: message.items.map((item) => ({ ...item, evidence: evidence() })) }, [
      actor,
    ]);
  const evidence = () => {
    const [round] = stateOf(cluster, 1).undecided.rounds.values();
    if (round?.evidence === undefined) throw new Error("the writer has the evidence");
    return round.evidence;
  };
  const refusing = (aborts: number, soFar = 0) => {
    const one = refusalOf(after(0), proposalId(crypto, next), { proposal: next, receipt }, "EXPIRED", []);
    if (one === undefined) throw new Error("there was room");
    const others = Array.from({ length: soFar }, () => one);
    return refusalOf(after(aborts), proposalId(crypto, next), { proposal: next, receipt }, "EXPIRED", others);
  };

  it("votes on nothing that it might have to abort, writes nothing and says nothing", () => {
    expect(told(CAPACITIES.aborts - 1).writes.length).toBeGreaterThan(0);
    expect(told(CAPACITIES.aborts)).toMatchObject({ sendNow: [], writes: [], thenSend: [] });
  });

  it("refuses nothing in a settlement, what it refuses with the same message counted", () => {
    expect(refusing(CAPACITIES.aborts - 1)).toBeDefined();
    expect(refusing(CAPACITIES.aborts)).toBeUndefined();
    expect(refusing(CAPACITIES.aborts - 2, 1)).toBeDefined();
    expect(refusing(CAPACITIES.aborts - 1, 1)).toBeUndefined();
  });
});

describe("a member's word that it is ready", () => {
  it("says that it takes no more refusals while it has no room for an abort, and the writer names it", () => {
    const cluster = paced();
    const full = stateOf(cluster, 3).undecided;
    Object.assign(full, { abortsUntil: cluster.now + MOST * Limits.abortMillis });
    // The writer has not asked it for a second.
    cluster.pass(Limits.probeAgeMillis - 100);
    Object.assign(full, { abortsUntil: cluster.now + MOST * Limits.abortMillis });
    cluster.pass(200);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    expect(cluster.answers.get("request")).toMatchObject({
      rejection: { members: [{ peerId: 3, reason: "it holds as many refusals as it may" }], outcomeUnknown: false },
    });
  });
});

describe("the writer", () => {
  it("turns a request away once as much was given up as may be, and takes one up a second later", () => {
    const cluster = paced();
    // Peer 3 refuses everything.
    cluster.judge = (peerId) => (peerId === 3 ? { _tag: "Refused", reason: "revoked" } : actor);
    const ask = (name: string, seed: number): string | undefined => {
      cluster.register(1, name, name, seed);
      cluster.pass(SOON);
      return codeOf(cluster, name);
    };
    for (let seed = 0; seed < MOST; seed += 1) expect(ask(`r${seed}`, seed)).toBe("UNAUTHENTICATED");
    expect(ask("too-many", 20)).toBe("APPROVER_REPLICATION_UNAVAILABLE");
    expect(cluster.answers.get("too-many")).toMatchObject({
      rejection: { detail: "Too many changes were refused and given up.", outcomeUnknown: false },
    });
    cluster.pass(Limits.abortMillis);
    expect(ask("later", 21)).toBe("UNAUTHENTICATED");
    cluster.judge = () => actor;
    cluster.pass(MOST * Limits.abortMillis);
    expect(ask("healed", 22)).toBe("Registered");
  });

  it("lets no actor alone use up the room", () => {
    const cluster = paced({ aborts: 2 * MOST, abortsOfActor: 2 });
    if (actor._tag !== "Verified") throw new Error("its token is good");
    const mallory: ActorCheck = { ...actor, claims: { ...actor.claims, sub: "mallory" } };
    let asks: ActorCheck = mallory;
    // Peer 3 refuses one caller's tokens, which the others take.
    cluster.judge = (peerId) => (peerId === 3 && asks === mallory ? { _tag: "Refused", reason: "revoked" } : asks);
    const ask = (name: string, seed: number): string | undefined => {
      cluster.register(1, name, name, seed);
      cluster.pass(SOON);
      return codeOf(cluster, name);
    };
    expect([0, 1, 2].map((seed) => ask(`m${seed}`, seed))).toEqual([
      "UNAUTHENTICATED",
      "UNAUTHENTICATED",
      "APPROVER_REPLICATION_UNAVAILABLE",
    ]);
    expect(cluster.answers.get("m2")).toMatchObject({
      rejection: { detail: "Too many changes under this subject of tokens were refused.", outcomeUnknown: false },
    });
    asks = actor;
    expect(ask("another", 10)).toBe("Registered");
    asks = mallory;
    cluster.pass(Limits.abortMillis);
    expect(ask("later", 11)).toBe("UNAUTHENTICATED");
  });

  it("lets an actor's changes wait for each other rather than turn them away, and takes none of its room for them", () => {
    const cluster = paced({ abortsOfActor: 2 });
    let isRefusing = true;
    cluster.judge = (peerId) => (peerId === 3 && isRefusing ? { _tag: "Refused", reason: "revoked" } : actor);
    const ask = (...names: ReadonlyArray<string>): ReadonlyArray<string | undefined> => {
      for (const name of names) cluster.register(1, name, name, Number(name.slice(1)));
      cluster.pass(SOON);
      return names.map((name) => codeOf(cluster, name));
    };
    expect(ask("r1")).toEqual(["UNAUTHENTICATED"]);
    isRefusing = false;
    // There is room for one beside what was aborted; each that is applied brings some back.
    expect(ask("r2", "r3", "r4", "r5")).toEqual(Array(4).fill("Registered"));
    isRefusing = true;
    expect([ask("r6"), ask("r7"), ask("r8")]).toEqual([
      ["UNAUTHENTICATED"],
      ["UNAUTHENTICATED"],
      ["APPROVER_REPLICATION_UNAVAILABLE"],
    ]);
  });

  it("is held up by no abort while its changes are applied", () => {
    const cluster = paced();
    for (let seed = 0; seed < 3 * MOST; seed += 1) cluster.register(1, `r${seed}`, `id-${seed}`, seed);
    cluster.pass(SOON);
    for (let seed = 0; seed < 3 * MOST; seed += 1) expect(codeOf(cluster, `r${seed}`)).toBe("Registered");
  });
});
