import { describe, expect, it } from "vitest";
import { type Cluster, whole, founded } from "../../properties/cluster/Cluster.ts";
import { CAPACITIES } from "../base/Capacities.ts";
import { slotKey } from "./Tables.ts";
import type { Message, MessageOf } from "../Message.ts";

const restart = (cluster: Cluster, peerId: number): void => {
  cluster.peers.get(peerId)?.stop();
  cluster.start(peerId);
};
const approvers = (cluster: Cluster) => [...cluster.peers.values()].map((each) => each.state.registry.approvers);
const preparations = (cluster: Cluster) =>
  [...cluster.peers.values()].map((each) => each.state.undecided.preparations.size);
/** Each peer's record of a slot. */
const outcomes = (cluster: Cluster, seq: number) =>
  [...cluster.tables.keys()].map((peerId) => cluster.row(peerId, "slots", slotKey(1, seq))?.outcome);
const demanding = (message: MessageOf<"SettleQuery">): Message => ({ ...message, demandFinal: true });
/** Keeps a kind of message from or to some peers off the wire. */
const cut =
  (tag: Message["_tag"], involves: (from: number, to: number) => boolean) =>
  (from: number, to: number, message: Message): Message | undefined =>
    message._tag === tag && involves(from, to) ? undefined : message;

describe("a peer that asks what became of a proposal", () => {
  it("tells nobody the random bytes of its step, of which secrets may be made", () => {
    const cluster = founded();
    const drawn = new Set<string>();
    const nonces: Array<string> = [];
    cluster.onEntropy = (bytes) => void drawn.add(bytes);
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "SettleQuery") nonces.push(message.nonce);
      return message._tag === "Votes" ? undefined : message;
    };
    cluster.register(2, "request", "alice", 7);
    cluster.pass(5_000);
    expect(drawn.size).toBeGreaterThan(0);
    expect(nonces.length).toBeGreaterThan(0);
    expect(nonces.filter((nonce) => drawn.has(nonce))).toEqual([]);
  });
});

describe("a peer that is asked what became of a proposal", () => {
  it("answers once, however often a question names it", () => {
    const cluster = founded();
    const answers: Array<number> = [];
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "SettleAnswer") answers.push(message.items.length);
      if (message._tag === "SettleQuery") return { ...message, items: [...message.items, ...message.items] };
      return message._tag === "Votes" ? undefined : message;
    };
    cluster.register(2, "request", "alice", 7);
    cluster.pass(5_000);
    expect(answers.length).toBeGreaterThan(0);
    expect(new Set(answers)).toEqual(new Set([1]));
  });
});

describe("a proposal whose writer went away", () => {
  it("is applied by survivors that jointly hold all receipts, and by the writer when it is back", () => {
    const cluster = founded();
    cluster.tamper = cut("Votes", () => true);
    cluster.register(2, "request", "alice", 7);
    cluster.settle();
    expect(preparations(cluster)).toEqual([1, 1, 1]);
    cluster.peers.get(1)?.stop();
    cluster.tamper = whole;
    cluster.pass(1_500);
    expect(approvers(cluster)).toEqual([0, 1, 1]);
    cluster.start(1);
    cluster.pass(3_000);
    expect(approvers(cluster)).toEqual([1, 1, 1]);
    for (const { state } of cluster.peers.values()) {
      expect(state.undecided.locks.size).toBe(0);
      expect(state.undecided.outbox.size).toBe(0);
    }
  });

  it("is applied by the one survivor of two, which holds both receipts from the start", () => {
    const cluster = founded(2);
    cluster.tamper = cut("Votes", () => true);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    cluster.peers.get(1)?.stop();
    cluster.tamper = whole;
    cluster.pass(1_500);
    expect(approvers(cluster)).toEqual([0, 1]);
  });

  it("is acknowledged to the writer at once by whoever completed it, so that its caller does not wait", () => {
    const cluster = founded(2);
    cluster.tamper = cut("Votes", () => true);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    cluster.pass(1_500);
    expect(approvers(cluster)).toEqual([1, 1]);
    expect(cluster.answers.get("request")?._tag).toBe("Registered");
  });

  it("is one of more than a message can carry, and all of them are applied", () => {
    const cluster = founded(2);
    cluster.tamper = cut("Commit", (_from, to) => to === 2);
    const many = CAPACITIES.proposalsPerMessage + 1;
    for (let index = 0; index < many; index++) {
      cluster.register(1, `request-${index}`, `id-${index}`, index);
      cluster.settle();
    }
    expect(cluster.peers.get(2)?.state.undecided.preparations.size).toBe(many);
    cluster.pass(1_500);
    expect(cluster.peers.get(2)?.state.registry.approvers).toBe(many);
    cluster.tamper = whole;
    cluster.pass(3_000);
    expect(approvers(cluster)).toEqual([many, many]);
    for (const { state } of cluster.peers.values()) expect(state.undecided.outbox.size).toBe(0);
  });

  it("is applied by everybody after all of them stopped at once", () => {
    const cluster = founded();
    cluster.tamper = cut("Votes", () => true);
    cluster.register(2, "request", "alice", 7);
    cluster.settle();
    cluster.tamper = whole;
    for (const peerId of [1, 2, 3]) restart(cluster, peerId);
    cluster.pass(4_000);
    expect(approvers(cluster)).toEqual([1, 1, 1]);
  });

  it("is aborted where a member never prepared and the evidence is gone; the same request then succeeds", () => {
    const cluster = founded();
    cluster.tamper = cut("Prepare", (_from, to) => to === 3);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    restart(cluster, 1);
    cluster.tamper = whole;
    // Messages that come in at the very time at which the writer is back may have come in before.
    cluster.pass(1);
    cluster.register(2, "retry", "alice", 7);
    cluster.pass(3_000);
    expect(preparations(cluster)).toEqual([0, 0, 0]);
    expect(outcomes(cluster, 1)).toEqual(["ABORTED", "ABORTED", "ABORTED"]);
    expect(cluster.answers.get("retry")).toMatchObject({ _tag: "Registered", created: true });
    expect(approvers(cluster)).toEqual([1, 1, 1]);
  });

  it("holds its locks while a member is missing, however long, and other keys wait for that member too", () => {
    const cluster = founded();
    cluster.tamper = cut("Prepare", (_from, to) => to === 3);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    restart(cluster, 1);
    cluster.peers.get(3)?.stop();
    cluster.tamper = cut("Prepare", () => true);
    cluster.pass(200_000);
    expect(preparations(cluster).slice(0, 2)).toEqual([1, 1]);
    expect(cluster.peers.get(1)?.state.undecided.locks.size).toBe(3);
    expect(cluster.peers.get(2)?.state.undecided.locks.size).toBe(3);
    cluster.start(3);
    cluster.tamper = whole;
    cluster.pass(10_000);
    expect(outcomes(cluster, 1)).toEqual(["ABORTED", "ABORTED", "ABORTED"]);
    for (const { state } of cluster.peers.values()) expect(state.undecided.locks.size).toBe(0);
  });

  it("is finished by the writer itself while it still has the evidence", () => {
    const cluster = founded();
    cluster.tamper = cut("Prepare", (_from, to) => to === 3);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    cluster.tamper = whole;
    cluster.pass(1_000);
    expect(cluster.answers.get("request")).toMatchObject({ _tag: "Registered", created: true });
  });

  it("gets no receipt after its deadline: the member that never saw it refuses, and all abort", () => {
    const cluster = founded();
    cluster.tamper = cut("Prepare", (_from, to) => to === 3);
    cluster.register(1, "request", "alice", 7);
    cluster.pass(61_000);
    cluster.tamper = whole;
    cluster.pass(10_000);
    expect(preparations(cluster)).toEqual([0, 0, 0]);
    expect(outcomes(cluster, 1)).toEqual(["ABORTED", "ABORTED", "ABORTED"]);
    expect(cluster.answers.get("request")).toMatchObject({ _tag: "Rejected", rejection: { outcomeUnknown: true } });
  });

  it("unknown to a member is not refused by it before the deadline for anybody but its writer", () => {
    const cluster = founded();
    cluster.tamper = (_from, to, message) =>
      message._tag === "Prepare" && to === 3
        ? undefined
        : message._tag === "SettleQuery"
          ? demanding(message)
          : message;
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    cluster.peers.get(1)?.stop();
    cluster.pass(20_000);
    expect(cluster.tables.get(3)?.get("refusals")?.size ?? 0).toBe(0);
    expect(cluster.tables.get(3)?.get("slots")?.size ?? 0).toBe(0);
    cluster.pass(50_000);
    expect(cluster.tables.get(3)?.get("refusals")?.size).toBe(1);
    expect(outcomes(cluster, 1).slice(1)).toEqual(["PREPARED", "REFUSED"]);
  });
});

describe("a certificate", () => {
  for (const lost of [2, 3])
    it(`reaches peer ${lost} again after the first delivery was lost, and the caller waits for it`, () => {
      const cluster = founded();
      cluster.tamper = cut("Commit", (_from, to) => to === lost);
      cluster.register(1, "request", "alice", 7);
      cluster.pass(900);
      expect(cluster.answers.has("request")).toBe(false);
      cluster.tamper = whole;
      cluster.pass(1_000);
      expect(cluster.answers.get("request")).toMatchObject({ _tag: "Registered", created: true });
      expect(approvers(cluster)).toEqual([1, 1, 1]);
    });

  it("is delivered by a member when the writer died right after its first delivery", () => {
    const cluster = founded();
    cluster.tamper = cut("Commit", (_from, to) => to === 3);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    cluster.peers.get(1)?.stop();
    cluster.tamper = whole;
    cluster.pass(3_000);
    expect(approvers(cluster)).toEqual([1, 1, 1]);
    expect(cluster.peers.get(3)?.state.registry.approvers).toBe(1);
  });

  it("delivered twice is acknowledged twice and written once", () => {
    const cluster = founded();
    const commits: Array<Message> = [];
    cluster.tamper = (_from, to, message) => {
      if (message._tag === "Commit" && to === 2) commits.push(message);
      return message;
    };
    cluster.register(1, "request", "alice", 7);
    cluster.pass(2_000);
    const [commit] = commits;
    const before = cluster.tables.get(2)?.get("head")?.get("self")?.row;
    const acks: Array<Message> = [];
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "CommitAcks") acks.push(message);
      return message;
    };
    if (commit !== undefined) cluster.peers.get(2)?.dispatch({ _tag: "Deliver", from: 1, message: commit, actors: [] });
    cluster.settle();
    expect(acks).toHaveLength(1);
    expect(cluster.tables.get(2)?.get("head")?.get("self")?.row).toEqual(before);
  });

  it("delivered twice moves no outbox row before all have acknowledged", () => {
    const cluster = founded();
    const commits: Array<Message> = [];
    cluster.tamper = (_from, to, message) => {
      if (message._tag === "Commit" && to === 3) return undefined;
      if (message._tag === "Commit" && to === 2) commits.push(message);
      return message;
    };
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    const before = cluster.tables.get(2)?.get("head")?.get("self")?.row;
    const [commit] = commits;
    if (commit !== undefined) cluster.peers.get(2)?.dispatch({ _tag: "Deliver", from: 1, message: commit, actors: [] });
    cluster.pass(200);
    expect(commits).not.toHaveLength(0);
    expect(cluster.tables.get(2)?.get("outbox")?.size).toBe(1);
    expect(cluster.tables.get(2)?.get("head")?.get("self")?.row).toEqual(before);
  });

  it("that a member has no memory of puts it in quarantine: its disk went back in time", () => {
    const cluster = founded();
    const copy = new Map([...(cluster.tables.get(3) ?? [])].map(([table, rows]) => [table, new Map(rows)]));
    cluster.tamper = cut("Commit", (_from, to) => to === 3);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    cluster.peers.get(3)?.stop();
    cluster.tables.set(3, copy);
    cluster.start(3);
    cluster.tamper = whole;
    cluster.pass(3_000);
    expect(cluster.peers.get(3)?.state.fitness.quarantine).toContain("does not remember");
    expect(cluster.peers.get(3)?.state.registry.approvers).toBe(0);
    cluster.register(2, "next", "bob", 8);
    cluster.pass(3_000);
    expect(cluster.answers.get("next")).toMatchObject({
      rejection: { members: [{ peerId: 3, reason: "it is quarantined" }] },
    });
  });
});
