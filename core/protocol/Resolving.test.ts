/** How a peer treats undecided proposals: when it asks, which members, and about how many at once. */
import { describe, expect, it } from "vitest";
import { approverIn } from "../../properties/cluster/AlteredEffects.ts";
import { type Cluster, founded } from "../../properties/cluster/Cluster.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { refusedBy } from "../../properties/cluster/Refused.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import type { Digest } from "../base/Digest.ts";
import { CAPACITIES } from "../base/Capacities.ts";
import type { Preparation } from "./Undecided.ts";
import type { Step } from "./Step.ts";
import type { Message, MessageOf } from "../Message.ts";
import { onResolveTimer } from "./Settlement.ts";
import type { PeerId } from "./Topology.ts";

/** After how many milliseconds a peer sends peer 3 such messages within 20 s, while no message arrives anywhere. */
const timesOf = (cluster: Cluster, peerId: PeerId, tag: Message["_tag"]): ReadonlyArray<number> => {
  const start = cluster.now;
  const times: Array<number> = [];
  cluster.tamper = (from, to, message) => {
    if (from === peerId && to === 3 && message._tag === tag) times.push(cluster.now - start);
    return undefined;
  };
  cluster.pass(20_000);
  return times;
};

const isAboutEnd = (message: Message): boolean =>
  message._tag === "AbortRequest" ||
  (message._tag === "Votes" && message.statements.some(({ statement }) => statement.kind === "ABORT_ACK"));

describe("what stays undecided", () => {
  it.each<readonly [string, () => Cluster, PeerId, Message["_tag"], ReadonlyArray<number>]>([
    ["prepared", () => prepared().cluster, 2, "SettleQuery", [1_200, 2_400, 4_800, 9_600, 14_600, 19_600]],
    [
      "refused",
      () => refusedBy(2, (_from, _to, message) => isAboutEnd(message)),
      2,
      "AbortRequest",
      [1_200, 2_400, 4_800, 9_600, 14_600, 19_600],
    ],
    [
      "aborted and not acknowledged by all",
      () => refusedBy(3, (from, _to, message) => from === 3 && message._tag === "Votes" && isAboutEnd(message)),
      1,
      "AbortRequest",
      [1_000, 2_000, 4_000, 8_000, 13_000, 18_000],
    ],
  ])("is asked about when its age has doubled, at last every 5 s: %s", (_what, clusterOf, peerId, tag, times) => {
    expect(timesOf(clusterOf(), peerId, tag)).toEqual(times);
  });

  it("is asked about by nobody who is sealed", () => {
    const { cluster } = prepared();
    cluster.peers.get(2)?.dispatch({ _tag: "Sealed" });
    expect(timesOf(cluster, 2, "SettleQuery")).toEqual([]);
  });

  it("holds the writer's next batch up for a second, and no longer", () => {
    const cluster = founded();
    const proposed = new Set<string>();
    cluster.tamper = (_from, to, message) => {
      if (message._tag !== "Prepare") return message;
      for (const { proposal } of message.items) proposed.add(approverIn(proposal).id);
      return to === 3 ? undefined : message;
    };
    cluster.register(1, "first", "alice", 7);
    cluster.pass(900);
    cluster.register(1, "second", "bob", 8);
    cluster.pass(99);
    expect([...proposed]).toEqual(["alice"]);
    cluster.pass(1);
    expect([...proposed]).toEqual(["alice", "bob"]);
  });
});

/** The messages of one kind that a step sends a peer when it is time to ask. */
const sentTo = <T extends Message["_tag"]>(step: Step, to: PeerId, tag: T): ReadonlyArray<MessageOf<T>> => {
  onResolveTimer(step);
  const { sendNow, thenSend } = step.finish(() => undefined);
  return [...sendNow, ...thenSend].flatMap((action) =>
    action._tag === "Send" && action.to === to && action.message._tag === tag ? [action.message as MessageOf<T>] : [],
  );
};
const sizes = (messages: ReadonlyArray<{ readonly items: ReadonlyArray<unknown> }>): ReadonlyArray<number> =>
  messages.map(({ items }) => items.length);

/** A step of a peer that has prepared copies of one proposal, each as many milliseconds ago as given. */
const stepWith = (peerId: PeerId, ages: ReadonlyArray<number>, change: Partial<Preparation> = {}): Step => {
  const { cluster } = prepared();
  const [preparation] = stateOf(cluster, peerId).undecided.preparations.values();
  if (preparation === undefined) throw new Error("it has prepared");
  const step = openStep(cluster, peerId, cluster.now, cluster.now + 60_000);
  step.draft("undecided").preparations = new Map(
    ages.map((age, index) => {
      const at = step.elapsed - age;
      const id = `${index}`.padStart(64, "0") as Digest;
      return [id, { ...preparation, id, preparedAt: at, askedAt: at, ...change }];
    }),
  );
  return step;
};
const old = (count: number): ReadonlyArray<number> => Array.from({ length: count }, () => 10_000);

describe("a member asks", () => {
  it.each([
    [0, []],
    [64, [64]],
    [65, [64, 1]],
    [4 * 64 + 1, [64, 64, 64, 64]],
  ])("about %i in messages of at most 64, and at most 256 in a step", (count, asked) => {
    expect(sizes(sentTo(stepWith(2, old(count)), 3, "SettleQuery"))).toEqual(asked);
  });

  it("about what is due alone", () => {
    expect(sizes(sentTo(stepWith(2, [1_200, 1_199]), 3, "SettleQuery"))).toEqual([1]);
  });

  it("about nothing, and sets no timer, where nothing is undecided", () => {
    const step = stepWith(2, []);
    step.timers.clear();
    expect(sentTo(step, 3, "SettleQuery")).toEqual([]);
    expect(step.state.timers.has("resolve")).toBe(false);
  });
});

describe("the writer sends what it has evidence for again", () => {
  const MIB = 1024 * 1024;
  /** So many proposals that are due, with so many bytes of evidence each. */
  const writerWith = (count: number, bytes: number, change: Partial<Preparation> = {}): Step => {
    const step = stepWith(1, old(count), change);
    const [round] = step.state.undecided.rounds.values();
    if (round?.evidence === undefined) throw new Error("the writer has the evidence");
    const { evidence } = round;
    const large = { ...evidence, call: { ...evidence.call, rawBody: new Uint8Array(bytes) } };
    step.draft("undecided").rounds = new Map(
      [...step.state.undecided.preparations.keys()].map((id) => [id, { ...round, id, evidence: large }] as const),
    );
    return step;
  };

  it.each([
    [65, 1, 64],
    [3, 2 * MIB, 2],
    [3, 2 * MIB + 1, 1],
    [2, 5 * MIB, 1],
  ])("as far as one message has room: of %i with %i bytes each %i", (count, bytes, sent) => {
    expect(CAPACITIES.evidenceBytes).toBe(4 * MIB);
    expect(sizes(sentTo(writerWith(count, bytes), 3, "Prepare"))).toEqual([sent]);
  });

  it("to nobody whose receipt it has", () => {
    const { preparation } = prepared();
    const receipts = new Map([1, 3].map((peerId) => [peerId, preparation.own]));
    expect(sizes(sentTo(writerWith(1, 1, { receipts }), 2, "Prepare"))).toEqual([1]);
    expect(sentTo(writerWith(1, 1, { receipts }), 3, "Prepare")).toEqual([]);
  });

  it("until its deadline: after that nobody may sign, and its token leaves memory", () => {
    const { cluster, preparation } = prepared();
    const { id, proposal } = preparation;
    const evidenceAt = (now: number) => {
      const step = openStep(cluster, 1, now, cluster.now + 60_000);
      onResolveTimer(step);
      return step.state.undecided.rounds.get(id)?.evidence;
    };
    expect(evidenceAt(proposal.expiresAt)?.token).toBe("token");
    expect(evidenceAt(proposal.expiresAt + 1)).toBeUndefined();
  });
});
