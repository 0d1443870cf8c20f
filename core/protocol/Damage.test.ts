import { describe, expect, it } from "vitest";
import { actor, type Cluster, founded, whole } from "../../properties/cluster/Cluster.ts";
import { credential, enrolling, finish, offerOf } from "../../properties/cluster/Enrolling.ts";
import { comeBackOn, copyOf, declare, stateOf } from "../../properties/cluster/Restoring.ts";
import { Limits } from "../base/Limits.ts";
import type { PeerId } from "./Topology.ts";
import type { Message, MessageOf } from "../Message.ts";
import type { MemoryTables } from "../../runtime/MemoryByteStore.ts";
import type { TableName } from "../Tables.ts";
import { SELF } from "./Tables.ts";

/** More reads of one table than any step of these tests needs: beyond it, the step is in a loop. */
const MANY = 100;

/** Flips a bit of a table's only row, or of the row under the key; stops a reader that reads without end. */
const damage = (cluster: Cluster, peerId: PeerId, table: TableName, key?: string): void => {
  const rows = cluster.tables.get(peerId)?.get(table);
  const at = key ?? [...(rows?.keys() ?? [])][0] ?? "";
  const stored = rows?.get(at);
  if (rows === undefined || stored === undefined) throw new Error("there is no such row");
  rows.set(at, {
    ...stored,
    row: stored.row.map((byte, index) => (index === stored.row.length - 1 ? byte ^ 1 : byte)),
  });
  const get = rows.get.bind(rows);
  let reads = 0;
  rows.get = (each) => {
    reads += 1;
    if (reads > MANY) throw new RangeError("it reads for ever");
    return get(each);
  };
};

const approversAt = (cluster: Cluster, peerId: PeerId): number => stateOf(cluster, peerId).registry.approvers;

/** A request through peer 3 that every member has prepared, and whose receipts have reached nobody. */
const preparedEverywhere = (cluster: Cluster): void => {
  cluster.tamper = (_from, _to, message) =>
    message._tag === "Votes" || message._tag === "SettleAnswer" ? undefined : message;
  cluster.register(3, "request", "alice", 7);
  cluster.settle();
  expect(stateOf(cluster, 2).undecided.preparations.size).toBe(1);
  cluster.peers.get(1)?.stop();
};

describe("a writer that finds a row damaged", () => {
  it("while it answers a request that was forwarded goes on without signing, and leaves the outcome open", () => {
    const cluster = founded();
    cluster.register(3, "first", "alice", 7);
    cluster.pass(3_000);
    damage(cluster, 1, "approvers");
    cluster.register(3, "again", "alice", 7);
    cluster.pass(3_000);
    expect(stateOf(cluster, 1).fitness.integrityFault).toContain("approvers/alice@");
    expect(cluster.answers.get("again")).toMatchObject({
      rejection: { members: [{ peerId: 1, reason: "its stored records do not hold" }], outcomeUnknown: true },
    });
  });

  it("while it takes a request of its own caller in answers it all the same", () => {
    const cluster = enrolling(3);
    const offer = offerOf(cluster, 1, "options");
    cluster.settle();
    damage(cluster, 1, "sessions");
    finish(cluster, 1, "finish", offer.invitation, credential(offer));
    cluster.settle();
    expect(stateOf(cluster, 1).fitness.integrityFault).toContain("sessions/");
    expect(cluster.answers.get("finish")).toMatchObject({
      rejection: { members: [{ peerId: 1, reason: "its stored records do not hold" }], outcomeUnknown: false },
    });
  });

  it("while it is being sealed is sealed all the same", () => {
    const cluster = founded();
    cluster.register(3, "first", "alice", 7);
    cluster.pass(3_000);
    cluster.tamper = (_from, _to, message) => (message._tag === "Ready" ? undefined : message);
    cluster.register(3, "again", "alice", 7);
    cluster.settle();
    expect(stateOf(cluster, 1).requests.queue).toHaveLength(1);
    damage(cluster, 1, "approvers");
    cluster.peers.get(1)?.dispatch({ _tag: "Sealed" });
    expect(stateOf(cluster, 1)).toMatchObject({ fitness: { unsealed: false }, requests: { queue: [] } });
    expect(stateOf(cluster, 1).fitness.integrityFault).toContain("approvers/alice@");
  });
});

describe("a writer that cannot trust what it remembers", () => {
  it("says for certain of no earlier request that it was not done, where its records do not hold", () => {
    const cluster = founded();
    preparedEverywhere(cluster);
    damage(cluster, 1, "counters", SELF);
    cluster.tamper = whole;
    cluster.start(1);
    cluster.pass(8_000);
    expect([2, 3].map((peerId) => approversAt(cluster, peerId))).toEqual([1, 1]);
    expect(cluster.answers.get("request")).toMatchObject({ _tag: "Rejected", rejection: { outcomeUnknown: true } });
  });

  it.each([
    ["finds out that its disk is old", false],
    ["is being restored", true],
  ])("nor where it %s", (_what, isDeclared) => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(1));
    preparedEverywhere(cluster);
    // The restored peer takes its time, so that it is asked again before it knows.
    cluster.tamper = (_from, _to, message) => (message._tag === "SnapshotOffer" ? undefined : message);
    comeBackOn(cluster, 1, old, isDeclared);
    cluster.pass(8_000);
    expect([2, 3].map((peerId) => approversAt(cluster, peerId))).toEqual([1, 1]);
    expect(cluster.answers.get("request")).toMatchObject({ _tag: "Rejected", rejection: { outcomeUnknown: true } });
  });

  it("nor of one that is more than a minute old", () => {
    const cluster = founded();
    const copies: Array<Message> = [];
    const outcomes: Array<Message> = [];
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "Forward") copies.push(message);
      if (message._tag === "Outcome") outcomes.push(message);
      return message._tag === "Forward" ? undefined : message;
    };
    cluster.register(3, "request", "alice", 7);
    cluster.pass(Limits.proposalMillis + 1_000);
    cluster.peers.get(1)?.dispatch({ _tag: "IntegrityLost", where: "keys/k" });
    const [message] = copies;
    if (message === undefined) throw new Error("nothing was forwarded");
    cluster.peers.get(1)?.dispatch({ _tag: "Deliver", from: 3, message, actors: [actor] });
    cluster.settle();
    expect(outcomes).toMatchObject([{ outcome: { rejection: { outcomeUnknown: true } } }]);
  });
});

/** A cluster whose first peer was restored and told nobody; its disk kept part of the new incarnation's transaction. */
const torn = (): { readonly cluster: Cluster; readonly disk: MemoryTables } => {
  const cluster = founded();
  cluster.register(1, "first", "alice", 7);
  cluster.pass(3_000);
  const older = copyOf(cluster.tables.get(1));
  cluster.tamper = (from, _to, message) => (from === 1 ? undefined : message);
  declare(cluster, 1);
  cluster.settle();
  const announced = cluster.tables.get(1)?.get("restore");
  if (announced === undefined) throw new Error("it was not restored");
  return { cluster, disk: new Map([...older, ["restore", announced]]) };
};

/** The first peer's answers to probes from now on, by a caller at the second peer and by that peer's restart. */
const shownByTheFirst = (cluster: Cluster): ReadonlyArray<MessageOf<"Ready">> => {
  const shown: Array<MessageOf<"Ready">> = [];
  cluster.tamper = (from, _to, message) => {
    if (from === 1 && message._tag === "Ready") shown.push(message);
    return message;
  };
  cluster.register(2, "later", "bob", 8);
  cluster.start(2);
  cluster.pass(3_000);
  return shown;
};

describe("a peer whose rows do not hold", () => {
  it.each([
    ["", { _tag: "IntegrityLost", where: "restore/self" }],
    [", and does not know it yet because it is sealed", { _tag: "Sealed" }],
  ] as const)("shows nobody what it signed in them, for that may never have been flushed%s", (_when, event) => {
    const { cluster, disk } = torn();
    comeBackOn(cluster, 1, disk, false);
    cluster.peers.get(1)?.dispatch(event);
    const shown = shownByTheFirst(cluster);
    expect(shown.length).toBeGreaterThan(0);
    for (const { restored, highSeqProof } of shown) expect([restored, highSeqProof]).toEqual([undefined, undefined]);
    expect([2, 3].map((peerId) => stateOf(cluster, peerId).signed.seen.get(1)?.incarnation)).toEqual([1, 1]);
  });
});
