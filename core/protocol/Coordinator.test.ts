/** Which requests the writer admits, which go into a round, and which wait for one that is under way. */
import { describe, expect, it } from "vitest";
import { approverIn } from "../../properties/cluster/AlteredEffects.ts";
import { actor, type Cluster, codeOf, founded } from "../../properties/cluster/Cluster.ts";
import { credential, enrolling, finish, offerOf, options } from "../../properties/cluster/Enrolling.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import type { Digest } from "../base/Digest.ts";
import { CAPACITIES } from "../base/Capacities.ts";
import { Limits } from "../base/Limits.ts";
import { enrollmentIn, enrollments, type OptionsRequest } from "../commands/enrollPasskey/EnrollmentState.ts";
import type { Queued } from "./Requests.ts";
import type { Round } from "./Undecided.ts";
import type { Step } from "./Step.ts";
import { advance, enqueue, onProposeTimer } from "./Coordinator.ts";
import type { Message } from "../Message.ts";
import type { PeerId } from "./Topology.ts";

const MIB = 1024 * 1024;

/** Keeps answers about readiness off the wire: every request waits for them. */
const keepWaiting = (cluster: Cluster): void => {
  cluster.pass(Limits.probeAgeMillis + 1);
  cluster.tamper = (_from, _to, message) => (message._tag === "Ready" ? undefined : message);
};
/** Delivers to the writer the requests forwarded to it, as if they had been sent again. */
const forwardAgain = (cluster: Cluster, entryPeer: PeerId, forwards: ReadonlyArray<Message>): void => {
  expect(forwards.length).toBeGreaterThan(0);
  for (const message of forwards)
    cluster.peers.get(1)?.dispatch({ _tag: "Deliver", from: entryPeer, message, actors: [actor] });
};
/** Every request that peers forward, and the rest of the wire. */
const forwardsOf = (cluster: Cluster, tamper = cluster.tamper): ReadonlyArray<Message> => {
  const forwards: Array<Message> = [];
  cluster.tamper = (from, to, message) => {
    if (message._tag === "Forward") forwards.push(message);
    return tamper(from, to, message);
  };
  return forwards;
};
const namesIn = (queue: ReadonlyArray<Queued>): ReadonlyArray<string> => queue.map(({ forward }) => forward.requestId);
const roundOf = (cluster: Cluster): Round => {
  const [round] = stateOf(cluster, 1).undecided.rounds.values();
  if (round === undefined) throw new Error("no round is under way");
  return round;
};

describe("a copy of a request", () => {
  it("of one that waits for a round is not taken in", () => {
    const cluster = founded();
    keepWaiting(cluster);
    const forwards = forwardsOf(cluster);
    cluster.register(3, "request", "alice", 7);
    cluster.settle();
    forwardAgain(cluster, 3, forwards);
    expect(namesIn(stateOf(cluster, 1).requests.queue)).toEqual(["request"]);
  });

  it("of one that was proposed is not taken in", () => {
    const cluster = founded();
    const forwards = forwardsOf(cluster, (_from, _to, message) => (message._tag === "Votes" ? undefined : message));
    cluster.register(3, "request", "alice", 7);
    cluster.settle();
    expect(roundOf(cluster).creator).toMatchObject({ requestId: "request", entryPeer: 3 });
    forwardAgain(cluster, 3, forwards);
    expect(stateOf(cluster, 1).requests.queue).toEqual([]);
  });

  it("of one that has joined another one does not join it once more", () => {
    const cluster = founded();
    const forwards = forwardsOf(cluster, (from, _to, message) =>
      from === 3 && message._tag === "CommitAcks" ? undefined : message,
    );
    cluster.register(1, "creator", "alice", 7);
    cluster.settle();
    cluster.register(2, "coalesced", "alice", 7);
    cluster.settle();
    forwardAgain(cluster, 2, forwards);
    expect(namesIn(roundOf(cluster).coalesced)).toEqual(["coalesced"]);
    expect(stateOf(cluster, 1).requests.queue).toEqual([]);
  });
});

it("a finish is refused by a peer that may not trust its own rows yet, in its own name", () => {
  const cluster = enrolling(3);
  const offer = offerOf(cluster, 1, "options");
  cluster.tamper = (from, to, message) => (message._tag === "Ready" && from === 3 && to === 2 ? undefined : message);
  cluster.peers.get(2)?.stop();
  cluster.start(2);
  cluster.settle();
  finish(cluster, 2, "finish", offer.invitation, credential(offer));
  expect(cluster.answers.get("finish")).toMatchObject({
    rejection: {
      code: "APPROVER_REPLICATION_UNAVAILABLE",
      members: [{ peerId: 2, reason: expect.stringContaining("joining") }],
    },
  });
});

/** The queue at a writer that has asked for readiness: a registration, so many others, and a request for options. */
const waiting = (count: number) => {
  const cluster = enrolling(3);
  keepWaiting(cluster);
  for (let seed = 0; seed < count; seed += 1) cluster.register(1, `r${seed}`, `id-${seed}`, seed);
  options(cluster, 1, "options");
  const {
    requests: { queue },
  } = stateOf(cluster, 1);
  const [first] = queue;
  const [offer] = enrollmentIn(stateOf(cluster, 1)).offers.values();
  if (first === undefined || offer === undefined) throw new Error("nothing waits");
  return { cluster, queue, first, offer };
};
/** The same with a body of so many bytes. */
const sized = <A extends Pick<Queued, "forward">>(each: A, bytes: number): A => {
  const { forward } = each;
  return { ...each, forward: { ...forward, call: { ...forward.call, rawBody: new Uint8Array(bytes) } } };
};

describe("the writer", () => {
  const { cluster, first, offer } = waiting(1);
  const held = (change: {
    queue?: Array<Queued>;
    offers?: Array<OptionsRequest>;
    rounds?: Array<Partial<Round>>;
  }): Step => {
    const step = openStep(cluster, 1);
    const named = <A>(all: ReadonlyArray<A> = []) => all.map((each, index) => [`${index}`, each] as const);
    const none = { refusal: undefined, certificate: undefined, creator: undefined, evidence: undefined, coalesced: [] };
    step.draft("requests").queue = change.queue ?? [];
    const offers = step.editIn(enrollments, "offers");
    offers.clear();
    for (const [name, each] of named(change.offers)) offers.set(name, each);
    step.draft("undecided").rounds = new Map(
      named(change.rounds).map(([name, each]) => [name as Digest, { id: name as Digest, ...none, ...each }]),
    );
    return step;
  };
  /** Whether it admits one request more, with a body of so many bytes. */
  const takes = (step: Step, bytes = 0): boolean => {
    if (actor._tag !== "Verified") throw new Error("the test actor is verified");
    const before = step.state.requests.queue.length;
    enqueue(step, sized(first, bytes).forward, { claims: actor.claims, request: first.intent });
    return step.state.requests.queue.length > before;
  };
  const many = <A>(each: A, count: number): Array<A> => Array.from({ length: count }, () => each);
  const empty = sized(first, 0);

  it.each<readonly [string, (count: number) => Step]>([
    ["that wait for a round", (count) => held({ queue: many(empty, count) })],
    ["for options", (count) => held({ offers: many(sized(offer, 0), count) })],
    ["that have joined another one", (count) => held({ rounds: [{ coalesced: many(empty, count) }] })],
    [
      "of all these kinds together",
      (count) => held({ queue: [empty], offers: [sized(offer, 0)], rounds: [{ coalesced: many(empty, count - 2) }] }),
    ],
  ])("holds 1,024 requests %s, and not one more", (_which, stepWith) => {
    expect(CAPACITIES.queuedCommands).toBe(1_024);
    expect(takes(stepWith(CAPACITIES.queuedCommands - 1))).toBe(true);
    expect(takes(stepWith(CAPACITIES.queuedCommands))).toBe(false);
  });

  it.each<readonly [string, (bytes: number) => Step]>([
    ["of what waits for a round", (bytes) => held({ queue: [sized(first, bytes)] })],
    ["of requests for options", (bytes) => held({ offers: [sized(offer, bytes)] })],
    ["of what is prepared", (bytes) => held({ rounds: [{ evidence: sized(first, bytes).forward }] })],
    ["of what has joined another one", (bytes) => held({ rounds: [{ coalesced: [sized(first, bytes)] }] })],
  ])("holds 32 MiB of bodies %s, and not one byte more", (_which, stepWith) => {
    const step = () => stepWith(Limits.queuedBytes - 2);
    expect(Limits.queuedBytes).toBe(32 * MIB);
    expect(takes(step(), 2)).toBe(true);
    expect(takes(step(), 3)).toBe(false);
  });
});

describe("a round", () => {
  const { cluster, queue, first } = waiting(CAPACITIES.proposalsPerMessage + 1);
  /** A step in which all members were found ready just now. */
  const ready = (waits: ReadonlyArray<Queued>): Step => {
    const step = openStep(cluster, 1);
    step.draft("probing").verdict = { probedAt: 0, concludedAt: 0, wallAhead: step.now - step.elapsed, faults: [] };
    step.draft("requests").queue = waits;
    return step;
  };
  /** How many are proposed to peer 2 at once, and how many wait for the next round. */
  const begun = (step: Step): readonly [proposed: number, waiting: number] => {
    const { state, thenSend } = step.finish(advance);
    const counts = thenSend.flatMap((action) =>
      action._tag === "Send" && action.to === 2 && action.message._tag === "Prepare"
        ? [action.message.items.length]
        : [],
    );
    return [counts.reduce((sum, each) => sum + each, 0), state.requests.queue.length];
  };

  it("is of 64 proposals at most", () => {
    expect(begun(ready(queue))).toEqual([64, 1]);
    expect(begun(ready(queue.slice(1)))).toEqual([64, 0]);
  });

  it("is of 4 MiB of bodies at most", () => {
    const sizes = (...all: ReadonlyArray<number>) => all.map((bytes, index) => sized(queue[index] ?? first, bytes));
    expect(begun(ready(sizes(2 * MIB, MIB, MIB)))).toEqual([3, 0]);
    expect(begun(ready(sizes(2 * MIB, MIB, MIB + 1)))).toEqual([2, 1]);
  });

  it("takes no more in than there is room for preparations: the next one is refused, and not left to wait", () => {
    const { preparation } = prepared();
    const stepWith = (count: number): Step => {
      const step = ready(queue.slice(0, 2));
      step.draft("undecided").preparations = new Map(
        Array.from({ length: count }, (_, index) => [`${index}` as Digest, preparation]),
      );
      return step;
    };
    expect(begun(stepWith(CAPACITIES.preparations - 2))).toEqual([2, 0]);
    expect(begun(stepWith(CAPACITIES.preparations - 1))).toEqual([1, 0]);
    expect(begun(stepWith(CAPACITIES.preparations))).toEqual([0, 0]);
  });

  it("begins when the one before it has been collected", () => {
    const step = ready(queue.slice(0, 1));
    step.edit("undecided", "collecting").add("ab".repeat(32) as Digest);
    expect(begun(step)).toEqual([0, 1]);
  });

  it("of a mono instance that has nothing to do asks nobody whether it is ready", () => {
    const alone = founded(1);
    const step = openStep(alone, 1);
    onProposeTimer(step);
    expect([step.state.probing.probe, step.state.probing.verdict]).toEqual([undefined, undefined]);
  });
});

it.each([1, 3])("refuses what no command recognizes, wherever it comes in: at peer %i", (through) => {
  const cluster = founded();
  const rawBody = new Uint8Array();
  cluster.ask(through, "unknown", { method: "POST", path: "/", ifMatch: undefined, rawBody });
  cluster.settle();
  expect(codeOf(cluster, "unknown")).toBe("INVALID_REQUEST_BODY");
  expect([...stateOf(cluster, 1).undecided.rounds.values(), ...stateOf(cluster, 1).requests.queue]).toEqual([]);
});

describe("a request for what is being registered", () => {
  /** A registration that peer 3 has not been asked for, so that a second round may begin before its end. */
  const stalled = (cluster: Cluster, begin: () => void): void => {
    cluster.tamper = (_from, to, message) =>
      to === 3 && (message._tag === "Prepare" || message._tag === "SettleQuery") ? undefined : message;
    begin();
    cluster.settle();
    cluster.pass(1_100);
  };

  it("joins it, as long as members can be asked to prepare it", () => {
    const cluster = founded();
    stalled(cluster, () => cluster.register(1, "creator", "alice", 7));
    cluster.register(1, "coalesced", "alice", 7);
    cluster.settle();
    expect(namesIn(roundOf(cluster).coalesced)).toEqual(["coalesced"]);
  });

  it("joins it when it is certified", () => {
    const cluster = founded();
    cluster.tamper = (from, _to, message) => (from === 3 && message._tag === "CommitAcks" ? undefined : message);
    cluster.register(1, "creator", "alice", 7);
    cluster.settle();
    cluster.register(1, "coalesced", "alice", 7);
    cluster.settle();
    expect(namesIn(roundOf(cluster).coalesced)).toEqual(["coalesced"]);
  });

  it("waits where nobody can be asked any more: how it ends decides about this one too", () => {
    const cluster = founded();
    stalled(cluster, () => cluster.register(1, "creator", "alice", 7));
    cluster.pass(Limits.proposalMillis + 5_000);
    cluster.register(1, "late", "alice", 7);
    cluster.settle();
    expect(namesIn(roundOf(cluster).coalesced)).toEqual([]);
    expect(namesIn(stateOf(cluster, 1).requests.queue)).toEqual(["late"]);
  });

  it("is not one for a change of it, which waits until every member has it", () => {
    const cluster = founded();
    cluster.tamper = (from, _to, message) => (from === 3 && message._tag === "CommitAcks" ? undefined : message);
    cluster.register(1, "creator", "alice", 7);
    cluster.settle();
    const { certificate } = roundOf(cluster);
    if (certificate === undefined) throw new Error("it is certified");
    const { ref } = approverIn(certificate.proposal);
    cluster.replace(1, "change", ref, '"1"', { team: "b" });
    cluster.settle();
    expect(namesIn(roundOf(cluster).coalesced)).toEqual([]);
    expect(namesIn(stateOf(cluster, 1).requests.queue)).toEqual(["change"]);
  });

  it("joins a finish with the same response, and waits with another one", () => {
    const cluster = enrolling(3);
    const offer = offerOf(cluster, 1, "options");
    const response = credential(offer);
    const send = (name: string, what: unknown): void => finish(cluster, 1, name, offer.invitation, what);
    stalled(cluster, () => send("creator", response));
    send("coalesced", response);
    send("another", { ...response, authenticatorAttachment: "platform" });
    cluster.settle();
    expect(namesIn(roundOf(cluster).coalesced)).toEqual(["coalesced"]);
    expect(namesIn(stateOf(cluster, 1).requests.queue)).toEqual(["another"]);
  });
});
