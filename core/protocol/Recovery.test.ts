import { describe, expect, it } from "vitest";
import { Cluster, NOW, whole, founded } from "../../properties/cluster/Cluster.ts";
import { comeBackOn, copyOf, declare, expectWhole, register, stateOf } from "../../properties/cluster/Restoring.ts";

describe("a declared restore", () => {
  for (const peerId of [1, 2])
    it(`brings back what peer ${peerId} lost, and changes go on`, () => {
      const cluster = founded();
      register(cluster, "alice", 7);
      const old = copyOf(cluster.tables.get(peerId));
      register(cluster, "bob", 8);
      register(cluster, "carol", 9);
      comeBackOn(cluster, peerId, old);
      expect(stateOf(cluster, peerId).recovery).toBeDefined();
      cluster.pass(5_000);
      expectWhole(cluster, 3);
      expect(stateOf(cluster, peerId).chain.incarnation).toBeGreaterThanOrEqual(NOW);
      register(cluster, "dave", 10, 3);
      expect(cluster.answers.get("register dave")).toMatchObject({ _tag: "Registered", created: true });
      cluster.pass(2_000);
      expectWhole(cluster, 4);
    });

  it("stops changes while it lasts, with the peer's name", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    cluster.tamper = (from, to, message) => (message._tag === "SnapshotOffer" ? undefined : whole(from, to, message));
    declare(cluster, 3);
    cluster.pass(3_000);
    expect(stateOf(cluster, 3).recovery?.waitsFor).toContain("takes the registry from peer 1");
    register(cluster, "bob", 8);
    expect(cluster.answers.get("register bob")).toMatchObject({
      _tag: "Rejected",
      rejection: { members: [{ peerId: 3, reason: "it is recovering" }], outcomeUnknown: false },
    });
    cluster.tamper = whole;
    cluster.pass(8_000);
    expectWhole(cluster, 1);
  });

  it("brings a quarantined peer back", () => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(2));
    register(cluster, "alice", 7);
    comeBackOn(cluster, 2, old, false);
    cluster.pass(1_000);
    expect(stateOf(cluster, 2).quarantine).toBeDefined();
    declare(cluster, 2);
    cluster.pass(5_000);
    expectWhole(cluster, 1);
  });

  it("declared while sealed begins before anything is signed", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    cluster.peers.get(2)?.dispatch({ _tag: "Sealed" });
    declare(cluster, 2);
    expect(cluster.answers.get("declare 2")).toEqual({ _tag: "Restoring", incarnation: undefined });
    const identity = cluster.keys.get(2);
    if (identity !== undefined) cluster.peers.get(2)?.unseal(identity);
    expect(stateOf(cluster, 2).recovery).toBeDefined();
    cluster.pass(5_000);
    expectWhole(cluster, 1);
  });

  it("signs nothing until every other member has it on record", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    cluster.tamper = (from, to, message) => (from === 3 && to === 2 && message._tag === "Ready" ? undefined : message);
    declare(cluster, 2);
    const before = stateOf(cluster, 2).chain;
    cluster.pass(10_000);
    expect(stateOf(cluster, 2).chain).toEqual(before);
    expect(stateOf(cluster, 2).recovery?.waitsFor).toContain("on record");
    cluster.tamper = whole;
    cluster.pass(5_000);
    expectWhole(cluster, 1);
  });

  it("is continued by the next process", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    cluster.tamper = (_from, _to, message) => (message._tag === "SnapshotOffer" ? undefined : message);
    declare(cluster, 2);
    cluster.pass(2_000);
    const { incarnation } = stateOf(cluster, 2).chain;
    cluster.peers.get(2)?.stop();
    cluster.tamper = whole;
    cluster.start(2);
    expect(stateOf(cluster, 2).recovery).toBeDefined();
    cluster.pass(5_000);
    expectWhole(cluster, 1);
    expect(stateOf(cluster, 2).chain.incarnation).toBe(incarnation);
  });

  it("needs somebody else, and a topology", () => {
    const alone = founded(1);
    declare(alone, 1);
    expect(alone.answers.get("declare 1")).toMatchObject({ rejection: { code: "RESTORE_IMPOSSIBLE" } });
    const unfounded = new Cluster(1, () => ({ peers: [2] }), 2);
    declare(unfounded, 1);
    expect(unfounded.answers.get("declare 1")).toMatchObject({ rejection: { code: "RESTORE_IMPOSSIBLE" } });
  });
});

describe("a second restore", () => {
  it("of the same peer, from an older disk, in the middle of the first, starts over", () => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(2));
    register(cluster, "alice", 7);
    cluster.tamper = (_from, _to, message) => (message._tag === "SnapshotOffer" ? undefined : message);
    declare(cluster, 2);
    cluster.pass(3_000);
    const first = stateOf(cluster, 2).chain.incarnation;
    comeBackOn(cluster, 2, old);
    cluster.tamper = whole;
    cluster.pass(6_000);
    expectWhole(cluster, 1);
    expect(stateOf(cluster, 2).chain.incarnation).toBeGreaterThan(first);
  });

  it("takes a higher incarnation although the clock was set back", () => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(2));
    register(cluster, "alice", 7);
    declare(cluster, 2);
    cluster.pass(5_000);
    const first = stateOf(cluster, 2).chain.incarnation;
    cluster.clockOffset = -3_600_000;
    comeBackOn(cluster, 2, old);
    expect(stateOf(cluster, 2).chain.incarnation).toBeLessThan(first);
    cluster.pass(5_000);
    expect(stateOf(cluster, 2).chain.incarnation).toBe(first + 1);
    expectWhole(cluster, 1);
  });

  it("of two peers at once needs one that was not restored, and has it", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    const olds = [2, 3].map((peerId) => copyOf(cluster.tables.get(peerId)));
    register(cluster, "bob", 8);
    olds.forEach((old, index) => comeBackOn(cluster, index + 2, old));
    cluster.pass(6_000);
    expectWhole(cluster, 2);
  });

  it("of everybody has nobody to take the registry from, and says so", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    for (const peerId of [1, 2, 3]) declare(cluster, peerId);
    cluster.pass(10_000);
    for (const peerId of [1, 2, 3]) expect(stateOf(cluster, peerId).recovery?.waitsFor).toContain("nobody has");
  });

  it("is not undone by a disk from before the first: that one goes into quarantine", () => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(2));
    declare(cluster, 2);
    cluster.pass(5_000);
    expectWhole(cluster, 0);
    comeBackOn(cluster, 2, old, false);
    cluster.pass(1_000);
    expect(stateOf(cluster, 2).quarantine).toContain("restored as incarnation");
  });
});
