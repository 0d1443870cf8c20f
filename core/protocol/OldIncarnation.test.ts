import { describe, expect, it } from "vitest";
import { actor, type Cluster, crypto, whole, founded } from "../../properties/cluster/Cluster.ts";
import { enrolling, options } from "../../properties/cluster/Enrolling.ts";
import { create, keyed } from "../../properties/cluster/Keyed.ts";
import { comeBackOn, copyOf, declare, expectWhole, register, stateOf } from "../../properties/cluster/Restoring.ts";
import { slotKey } from "./Tables.ts";
import type { Message, MessageOf } from "../Message.ts";
import { isReceiptFor } from "./Certificate.ts";
import { modeOf } from "./Mode.ts";

/** Everybody has prepared alice, and the votes that matter are held back. */
const prepared = (hold: (from: number, to: number, message: Message) => boolean): Cluster => {
  const cluster = founded();
  cluster.tamper = (from, to, message) => (hold(from, to, message) ? undefined : message);
  cluster.register(1, "request", "alice", 7);
  cluster.settle();
  return cluster;
};
/**
 * Peer 2 announces an incarnation, and then its disk goes back to before it. Only peer 3 hears of that, when all have
 * shown peer 2 that they know of none; and the answer goes to a process that is over.
 */
const announcedLate = (cluster = founded()): Cluster => {
  const late: Array<Message> = [];
  const old = copyOf(cluster.tables.get(2));
  cluster.tamper = (from, to, message) => {
    if (from === 2 && to === 3 && message._tag === "ReadyProbe" && message.restored !== undefined) late.push(message);
    return from === 2 ? undefined : message;
  };
  declare(cluster, 2);
  cluster.settle();
  cluster.tamper = whole;
  comeBackOn(cluster, 2, old, false);
  cluster.pass(2_000);
  cluster.tamper = (_from, to, message) => (to === 2 && message._tag === "Ready" ? undefined : message);
  const [announcement] = late;
  if (announcement === undefined) throw new Error("peer 2 has announced it");
  cluster.peers.get(3)?.dispatch({ _tag: "Deliver", from: 2, message: announcement, actors: [] });
  cluster.settle();
  cluster.tamper = whole;
  expect(modeOf(stateOf(cluster, 2))).toBe("active");
  return cluster;
};
const idOf = (cluster: Cluster, peerId: number) => [...stateOf(cluster, peerId).undecided.preparations.keys()][0];

describe("what was undecided when a member was restored", () => {
  it("is aborted where a receipt was lost with the old incarnation", () => {
    const cluster = prepared((from, _to, message) => from === 2 && message._tag === "Votes");
    expect(stateOf(cluster, 2).undecided.preparations.size).toBe(1);
    cluster.tamper = whole;
    declare(cluster, 2);
    expect(stateOf(cluster, 2).undecided.preparations.size).toBe(0);
    cluster.pass(10_000);
    expectWhole(cluster, 0);
    expect(cluster.row(2, "slots", slotKey(1, 1))).toMatchObject({ outcome: "ABORTED" });
    register(cluster, "bob", 8);
    expect(cluster.answers.get("register bob")).toMatchObject({ _tag: "Registered" });
  });

  it("is applied where the old receipt had been collected, and the restored member takes it from the others", () => {
    const cluster = prepared((_from, to, message) => message._tag === "Commit" && to === 2);
    expect(stateOf(cluster, 1).registry.approvers).toBe(1);
    const id = idOf(cluster, 2);
    cluster.tamper = (_from, to, message) => (message._tag === "SnapshotOffer" && to === 2 ? undefined : message);
    declare(cluster, 2);
    cluster.pass(8_000);
    // Certificates come every second, and it leaves them alone.
    expect(cluster.row(2, "certificates", id ?? "")).toBeUndefined();
    expect(cluster.answers.has("request")).toBe(false);
    cluster.tamper = whole;
    cluster.pass(8_000);
    expectWhole(cluster, 1);
    expect(cluster.row(2, "slots", slotKey(1, 1))?.ack?.header.incarnation).toBe(
      stateOf(cluster, 2).signed.chain.incarnation,
    );
    expect(cluster.row(2, "audit", "0000000000000002")).toMatchObject({ id });
  });

  it("counts a receipt at the incarnation its proposal pins, though its signer has another incarnation since", () => {
    const votes: Array<MessageOf<"Votes">> = [];
    const cluster = prepared((from, _to, message) => {
      if (from === 2 && message._tag === "Votes") votes.push(message);
      return from === 2 && message._tag === "Votes";
    });
    const preparation = [...stateOf(cluster, 1).undecided.preparations.values()][0];
    const receipt = votes[0]?.statements[0];
    cluster.tamper = (_from, to, message) => (to === 2 && message._tag !== "ReadyProbe" ? undefined : message);
    declare(cluster, 2);
    cluster.settle();
    const {
      cluster: { membership },
      signed: { seen },
    } = stateOf(cluster, 1);
    expect(seen.get(2)?.incarnation).toBe(stateOf(cluster, 2).signed.chain.incarnation);
    if (preparation === undefined || receipt === undefined || membership === undefined) throw new Error("prepared");
    expect(isReceiptFor(crypto, membership, preparation.id, preparation.proposal, receipt)).toBe(true);
    cluster.peers
      .get(1)
      ?.dispatch({ _tag: "Deliver", from: 2, message: { _tag: "Votes", statements: [receipt] }, actors: [] });
    expect(stateOf(cluster, 1).registry.approvers).toBe(1);
    cluster.tamper = whole;
    cluster.pass(10_000);
    expectWhole(cluster, 1);
  });

  it("does not count a vote of the old incarnation for the end, neither one counted before nor one that comes late", () => {
    const late: Array<Message> = [];
    const cluster = founded();
    cluster.judge = (peerId) => (peerId === 3 ? { _tag: "Refused", reason: "test" } : actor);
    cluster.tamper = (from, to, message) => {
      const isVote = from === 2 && message._tag === "Votes" && message.statements[0]?.statement.kind !== "RECEIPT";
      if (isVote) late.push(message);
      return isVote || (message._tag === "AbortRequest" && to === 1) ? undefined : message;
    };
    cluster.register(1, "request", "alice", 7);
    cluster.pass(2_500);
    expect(late[0]).toMatchObject({ statements: [{ statement: { kind: "ABORT_ACK" } }] });
    cluster.tamper = (from, to, message) =>
      (to === 2 && from === 3 && message._tag === "Ready") || message._tag === "AbortRequest" ? undefined : message;
    declare(cluster, 2);
    cluster.settle();
    const [first] = late;
    if (first !== undefined) cluster.peers.get(1)?.dispatch({ _tag: "Deliver", from: 2, message: first, actors: [] });
    cluster.settle();
    const [held] = stateOf(cluster, 1).undecided.preparations.values();
    expect([...(held?.votes.keys() ?? [])].toSorted()).toEqual([1, 3]);
    cluster.tamper = whole;
    cluster.pass(10_000);
    expectWhole(cluster, 0);
  });

  it("holds no slot for what the old disk had bound and no helper has decided, also after a restart in between", () => {
    const cluster = founded();
    cluster.judge = (peerId) => (peerId === 2 ? { _tag: "Refused", reason: "test" } : actor);
    cluster.tamper = (_from, _to, message) => (message._tag === "AbortRequest" ? undefined : message);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    expect([stateOf(cluster, 2).undecided.refused.size, stateOf(cluster, 3).undecided.preparations.size]).toEqual([
      1, 1,
    ]);
    // Peer 2 stays undecided, and is the one to offer: the offer of peer 1 is spoilt.
    let isOffering = false;
    cluster.tamper = (from, to, message) => {
      const isVote = message._tag === "AbortRequest" || message._tag === "Votes";
      if (isVote && (from === 2 || to === 2)) return undefined;
      if (message._tag !== "SnapshotOffer") return message;
      return isOffering && from === 1
        ? { ...message, cutoff: { ...message.cutoff, root: message.nonce } }
        : isOffering
          ? message
          : undefined;
    };
    declare(cluster, 3);
    cluster.pass(4_000);
    expect(stateOf(cluster, 3).undecided.refused.size).toBe(1);
    cluster.peers.get(3)?.stop();
    cluster.start(3);
    isOffering = true;
    cluster.pass(3_000);
    expect(stateOf(cluster, 3).rejoining.recovery).toBeUndefined();
    cluster.tamper = whole;
    cluster.pass(10_000);
    expectWhole(cluster, 0);
  });

  it("takes an acknowledgement of the old incarnation back, so that nobody is told of a success that was lost", () => {
    const cluster = founded();
    cluster.tamper = (from, _to, message) => (from === 3 && message._tag === "CommitAcks" ? undefined : message);
    const old = copyOf(cluster.tables.get(2));
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    const delivery = () => [...stateOf(cluster, 1).undecided.outbox.values()][0];
    expect(delivery()?.acks.has(2)).toBe(true);
    comeBackOn(cluster, 2, old);
    cluster.settle();
    cluster.pass(30);
    expect(delivery()?.acks.has(2)).toBe(false);
    cluster.tamper = whole;
    cluster.pass(8_000);
    expectWhole(cluster, 1);
    expect(cluster.answers.get("request")).toMatchObject({ _tag: "Registered", created: true });
  });

  /** Peer 2 holds every receipt and applies; nobody hears of it, and its backup is from after that. */
  const appliedByOne = (cluster: Cluster): void => {
    cluster.tamper = (_from, to, message) =>
      to !== 2 && (message._tag === "Votes" || message._tag === "Commit") ? undefined : message;
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    cluster.tamper = (from, to, message) => {
      if (from === 2 && to !== 2 && message._tag !== "SettleQuery") return undefined;
      const isOfVotes = message._tag === "SettleAnswer" || message._tag === "Votes";
      return isOfVotes && to !== 2 ? undefined : message;
    };
    cluster.pass(3_000);
    expect(stateOf(cluster, 2).registry.approvers).toBe(1);
    expect(stateOf(cluster, 1).undecided.preparations.size).toBe(1);
  };

  it("that the old incarnation applied is applied by the others, whom it shows the certificate on its disk", () => {
    const cluster = founded();
    appliedByOne(cluster);
    cluster.tamper = whole;
    declare(cluster, 2);
    cluster.pass(10_000);
    expectWhole(cluster, 1);
    expect(cluster.answers.get("request")).toMatchObject({ _tag: "Registered", created: true });
  });

  it("that only the old incarnation applied, and the others abort, is taken away again", () => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(3));
    appliedByOne(cluster);
    // A member that has lost its receipt refuses, before anybody is shown the certificate.
    cluster.tamper = (from, to, message) =>
      from === 2 && message._tag === "Commit" ? undefined : whole(from, to, message);
    declare(cluster, 2);
    comeBackOn(cluster, 3, old);
    cluster.pass(10_000);
    expectWhole(cluster, 0);
    expect(cluster.tables.get(2)?.get("approvers")?.size ?? 0).toBe(0);
    expect(cluster.tables.get(2)?.get("keys")?.size ?? 0).toBe(0);
    cluster.tamper = whole;
    cluster.register(1, "again", "bob", 7);
    cluster.pass(3_000);
    expect(cluster.answers.get("again")).toMatchObject({ _tag: "Registered", created: true });
  });
});

describe("a member that goes on in an incarnation that is over", () => {
  it("learns of it from whoever cannot count its vote, and what was open ends when it is restored", () => {
    const cluster = announcedLate();
    register(cluster, "alice", 7);
    cluster.pass(2_000);
    expect(stateOf(cluster, 3).undecided.refused.size).toBe(1);
    expect(stateOf(cluster, 2).fitness.quarantine).toContain("this peer was restored as incarnation");
    register(cluster, "bob", 8);
    expect(cluster.answers.get("register bob")).toMatchObject({ rejection: { members: [{ peerId: 2 }] } });
    declare(cluster, 2);
    cluster.pass(10_000);
    expectWhole(cluster, 0);
    register(cluster, "carol", 9);
    expect(cluster.answers.get("register carol")).toMatchObject({ _tag: "Registered" });
  });

  it("learns of it too from whoever refuses its part in a key", () => {
    const cluster = announcedLate(keyed());
    create(cluster, 1, "key");
    cluster.pass(2_000);
    expect(stateOf(cluster, 2).fitness.quarantine).toContain("this peer was restored as incarnation");
  });

  it("learns of it too from whoever refuses what it would acknowledge", () => {
    const cluster = announcedLate(enrolling(3));
    options(cluster, 1, "options");
    cluster.pass(2_000);
    expect(stateOf(cluster, 2).fitness.quarantine).toContain("this peer was restored as incarnation");
  });
});
