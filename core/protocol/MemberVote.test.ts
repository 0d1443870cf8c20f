/** One member, shown its writer's proposal: its answer, or none where it must not answer. */
import { describe, expect, it } from "vitest";
import { altered } from "../../properties/cluster/AlteredEffects.ts";
import { actor, type Cluster, crypto, founded, whole } from "../../properties/cluster/Cluster.ts";
import { credential, enrolling, finish, offerOf, relyingParty } from "../../properties/cluster/Enrolling.ts";
import { receiptOfWriter } from "../../properties/cluster/Forging.ts";
import { comeBackOn, copyOf, declare, stateOf } from "../../properties/cluster/Restoring.ts";
import { commands } from "../commands/Commands.ts";
import type { Digest } from "../base/Digest.ts";
import type { ActorCheck } from "../auth/ActorCheck.ts";
import { CAPACITIES } from "../base/Capacities.ts";
import { Limits } from "../base/Limits.ts";
import { slotKey } from "./Tables.ts";
import type { Message, MessageOf } from "../Message.ts";
import type { PrepareItem } from "./Message.ts";
import { locksOf } from "./Command.ts";
import { type Proposal, proposalId } from "./Proposal.ts";

const OTHER = "ab".repeat(32) as Digest;
const registerAlice = (cluster: Cluster): void => cluster.register(2, "request", "alice", 7);

/** A cluster whose writer has prepared a request, and its message to peer 2, which was kept back. */
const keptFromTwo = (cluster = founded(), ask = registerAlice) => {
  const kept: Array<MessageOf<"Prepare">> = [];
  cluster.tamper = (_from, to, message) => {
    if (message._tag === "Prepare" && to === 2) kept.push(message);
    return message._tag === "Prepare" ? undefined : message;
  };
  ask(cluster);
  cluster.settle();
  const [message] = kept;
  const item = message?.items[0];
  if (message === undefined || item === undefined) throw new Error("nothing was proposed");
  return { cluster, message, item };
};

interface Showing {
  readonly from?: number;
  readonly actors?: ReadonlyArray<ActorCheck>;
}

/** Shows peer 2 a message; returns its answers, a text for each message. */
const answersOf = (
  cluster: Cluster,
  message: MessageOf<"Prepare">,
  { from = 1, actors = message.items.map(() => actor) }: Showing = {},
): ReadonlyArray<string> => {
  const answers: Array<string> = [];
  cluster.tamper = (sender, _to, sent): Message | undefined => {
    if (sender === 2 && sent._tag === "Votes")
      answers.push(sent.statements.map(({ statement }) => `${statement.kind} ${statement.detail}`.trim()).join(", "));
    return undefined;
  };
  cluster.peers.get(2)?.dispatch({ _tag: "Deliver", from, message, actors });
  cluster.settle();
  return answers;
};

/** A message that proposes the same on the same evidence, but for some fields. */
const changed = (cluster: Cluster, item: PrepareItem, change: Partial<Proposal>): MessageOf<"Prepare"> => {
  const proposal = { ...item.proposal, ...change };
  return {
    _tag: "Prepare",
    items: [{ ...item, proposal, receipt: receiptOfWriter(cluster, proposal, item.receipt) }],
    stableSeq: 0,
  };
};

/** Puts more into a map of peer 2's state than it gets by itself. */
const put = <K, V>(map: ReadonlyMap<K, V>, entries: Iterable<readonly [K, V]>): void => {
  if (!(map instanceof Map)) throw new Error("a peer keeps it in a map");
  for (const [key, value] of entries) map.set(key, value);
};
const made = (index: number): Digest => crypto.sha256(Uint8Array.of(index & 255, index >> 8));
const times = <V>(count: number, value: V): ReadonlyArray<readonly [Digest, V]> =>
  Array.from({ length: count }, (_, index) => [made(index), value] as const);

const ending = (expiresAt: number): ActorCheck => {
  if (actor._tag !== "Verified") throw new Error("the test actor is verified");
  return { _tag: "Verified", claims: { ...actor.claims, expiresAt } };
};

describe("who is answered", () => {
  it("is the writer alone, though another member shows what the writer signed", () => {
    const { cluster, message } = keptFromTwo();
    expect(answersOf(cluster, message, { from: 3 })).toEqual([]);
    expect(answersOf(cluster, message)).toEqual(["RECEIPT"]);
  });

  it("gets what this member has said before, and nothing is written again", () => {
    const { cluster, message, item } = keptFromTwo();
    const other = changed(cluster, item, { configDigest: OTHER });
    for (const [asked, answer] of [
      [message, "RECEIPT"],
      [other, "REFUSAL SLOT_TAKEN"],
    ] as const) {
      expect(answersOf(cluster, asked)).toEqual([answer]);
      const before = cluster.committed.length;
      expect(answersOf(cluster, asked)).toEqual([answer]);
      expect(cluster.committed.length).toBe(before);
    }
  });

  it("gets the acknowledgement of what is applied", () => {
    const { cluster, message } = keptFromTwo();
    cluster.tamper = whole;
    cluster.pass(3_000);
    expect(answersOf(cluster, message)).toEqual(["COMMIT_ACK"]);
  });

  it("gets no refusal of what this member took from others when it was restored", () => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(2));
    const { message } = keptFromTwo(cluster);
    cluster.tamper = whole;
    cluster.pass(3_000);
    comeBackOn(cluster, 2, old);
    cluster.pass(8_000);
    expect(stateOf(cluster, 2).rejoining.recovery).toBeUndefined();
    expect(cluster.row(2, "slots", slotKey(1, 1))).toMatchObject({ outcome: "APPLIED", ack: undefined });
    expect(answersOf(cluster, message)).toEqual([]);
  });

  it("is told nothing yet where the token was not judged, until the deadline decides", () => {
    const { cluster, message, item } = keptFromTwo();
    const unjudged = [[], [{ _tag: "Unavailable" }]] as const;
    cluster.clockOffset = item.proposal.expiresAt - cluster.now;
    for (const actors of unjudged) expect(answersOf(cluster, message, { actors })).toEqual([]);
    cluster.clockOffset += 1;
    for (const actors of unjudged) expect(answersOf(cluster, message, { actors })).toEqual(["REFUSAL EXPIRED"]);
  });

  it("may say with a proposal what all have acknowledged, and no other member may", () => {
    const cluster = founded();
    registerAlice(cluster);
    cluster.settle();
    const isOver = () => [...stateOf(cluster, 2).undecided.outbox.values()].map(({ isPrunable }) => isPrunable);
    const message: Message = { _tag: "Prepare", items: [], stableSeq: 1 };
    expect(isOver()).toEqual([false]);
    expect(answersOf(cluster, message, { from: 3 })).toEqual([]);
    expect(isOver()).toEqual([false]);
    expect(answersOf(cluster, message)).toEqual([]);
    expect(isOver()).toEqual([true]);
  });
});

describe("a member that is being restored", () => {
  /** Peer 2, which has refused the writer's proposal, and has not taken over the registry of the others yet. */
  const restoring = () => {
    const { cluster, message, item } = keptFromTwo();
    cluster.tamper = (_from, to, sent) =>
      sent._tag === "SnapshotOffer" || (sent._tag === "Prepare" && to === 2) ? undefined : sent;
    declare(cluster, 2);
    cluster.pass(3_000);
    const asksAbout = () => [...(stateOf(cluster, 2).rejoining.recovery?.inquiries.keys() ?? [])];
    expect(asksAbout()).toEqual([]);
    return { cluster, message, item, asksAbout };
  };

  it("says again what it has refused", () => {
    const { cluster, message } = restoring();
    expect(answersOf(cluster, message)).toEqual(["REFUSAL RECOVERING"]);
  });

  it("asks the others about what its writer may propose here, and about nothing else", () => {
    const { cluster, item, asksAbout } = restoring();
    const another = { ...item.proposal, seq: 2 };
    expect(answersOf(cluster, changed(cluster, item, { ...another, clusterId: OTHER }))).toEqual([]);
    expect(asksAbout()).toEqual([]);
    expect(answersOf(cluster, changed(cluster, item, another))).toEqual([]);
    expect(asksAbout()).toEqual([proposalId(crypto, another)]);
  });
});

describe("the last moment", () => {
  it.each([
    [0, "RECEIPT"],
    [1, "REFUSAL EXPIRED"],
  ])("of a proposal is its deadline, by this member's clock: %i ms after it", (after, answer) => {
    const { cluster, message, item } = keptFromTwo();
    cluster.clockOffset = item.proposal.expiresAt + after - cluster.now;
    expect(answersOf(cluster, message)).toEqual([answer]);
  });

  it.each([
    [0, "RECEIPT"],
    [1, "REFUSAL EXPIRED"],
  ])("of a token comes no sooner than that of what is proposed under it: %i ms before", (before, answer) => {
    const { cluster, message, item } = keptFromTwo();
    expect(answersOf(cluster, message, { actors: [ending(item.proposal.expiresAt - before)] })).toEqual([answer]);
  });

  it("of a session comes no sooner than that of what finishes it", () => {
    const enrolled = enrolling(3);
    const offer = offerOf(enrolled, 1, "options");
    enrolled.pass(relyingParty.registrationTtlMillis - 10_000);
    const { cluster, message, item } = keptFromTwo(enrolled, (each) =>
      finish(each, 2, "finish", offer.invitation, credential(offer)),
    );
    expect(item.proposal.expiresAt).toBe(offer.expiresAt);
    const later = changed(cluster, item, { expiresAt: offer.expiresAt + 1, seq: 2 });
    expect(answersOf(cluster, later)).toEqual(["REFUSAL EXPIRED"]);
    expect(answersOf(cluster, message)).toEqual(["RECEIPT"]);
  });
});

describe("the time of a proposal", () => {
  it("is ahead of this member's by no more than clocks may differ", () => {
    const { cluster, item } = keptFromTwo();
    const proposedAt = cluster.now + Limits.clockSkewMillis;
    const { effects } = altered(item.proposal, { createdAt: proposedAt, updatedAt: proposedAt });
    expect(answersOf(cluster, changed(cluster, item, { proposedAt, effects }))).toEqual(["RECEIPT"]);
  });

  it.each([
    [Limits.proposalMillis, "RECEIPT"],
    [Limits.proposalMillis + 1, "REFUSAL STALE_REQUEST"],
    [-Limits.proposalMillis, "RECEIPT"],
    [-Limits.proposalMillis - 1, "REFUSAL STALE_REQUEST"],
  ])("is no further from when the request came in than it may last: %i ms", (difference, answer) => {
    const { cluster, message, item } = keptFromTwo(founded(), (each) => each.register(1, "request", "alice", 7));
    const evidence = { ...item.evidence, receivedAt: item.proposal.proposedAt + difference };
    expect(answersOf(cluster, { ...message, items: [{ ...item, evidence }] })).toEqual([answer]);
  });
});

describe("what this member has already", () => {
  it("it does not register once more", () => {
    const { cluster, item } = keptFromTwo();
    cluster.tamper = whole;
    cluster.pass(3_000);
    expect(answersOf(cluster, changed(cluster, item, { seq: 2 }))).toEqual(["REFUSAL ALREADY_REGISTERED"]);
  });

  it.each([0, 1, 2])("holds a proposal off by any one of its locks: the one at %i", (at) => {
    const { cluster, message, item } = keptFromTwo();
    const lock = locksOf(commands, item.proposal)[at];
    if (lock === undefined) throw new Error("a registration has three locks");
    put(stateOf(cluster, 2).undecided.locks, [[lock, OTHER]]);
    expect(answersOf(cluster, message)).toEqual(["REFUSAL LOCKED"]);
  });

  const registerTwo = (cluster: Cluster): void => {
    registerAlice(cluster);
    cluster.register(2, "another", "bob", 8);
  };

  it("prepared leaves no room past 256, those of the same message among them", () => {
    const { cluster, message } = keptFromTwo(founded(), registerTwo);
    const [preparation] = stateOf(cluster, 1).undecided.preparations.values();
    if (preparation === undefined) throw new Error("the writer has prepared");
    put(stateOf(cluster, 2).undecided.preparations, times(CAPACITIES.preparations - 1, preparation));
    expect(answersOf(cluster, message)).toEqual(["RECEIPT, REFUSAL PREPARATION_CAPACITY"]);
  });

  it("refused leaves no room for refusals past 4,096, those of the same message among them", () => {
    const { cluster, message, item } = keptFromTwo(founded(), registerTwo);
    const refused = {
      id: proposalId(crypto, item.proposal),
      proposal: item.proposal,
      bindsSlot: false,
      writerReceipt: item.receipt,
      votes: new Map(),
      preparedAt: 0,
      askedAt: 0,
    };
    put(stateOf(cluster, 2).undecided.refused, times(CAPACITIES.refusals - 1, refused));
    const actors: ReadonlyArray<ActorCheck> = message.items.map(() => ({ _tag: "Refused", reason: "it was revoked" }));
    expect(answersOf(cluster, message, { actors })).toEqual(["REFUSAL UNAUTHENTICATED"]);
    expect(answersOf(cluster, changed(cluster, item, { seq: 9 }), { actors })).toEqual([]);
  });
});
