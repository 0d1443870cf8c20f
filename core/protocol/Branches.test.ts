/** Every member is restored, and some disk still has what a former restore of all had left behind. */
import { describe, expect, it } from "vitest";
import { type Cluster, founded, whole } from "../../properties/cluster/Cluster.ts";
import { comeBackOn, copyOf, declare, expectWhole, register, stateOf } from "../../properties/cluster/Restoring.ts";
import type { MemoryTables } from "../../runtime/MemoryByteStore.ts";
import type { PeerId } from "./Topology.ts";

const ALL: ReadonlyArray<PeerId> = [1, 2, 3];
const YEARS = 10 * 365 * 86_400_000;

const namesAt = (cluster: Cluster, peerId: PeerId): ReadonlyArray<string> =>
  [...(cluster.tables.get(peerId)?.get("approvers")?.keys() ?? [])]
    .map((ref) => ref.slice(0, ref.indexOf("@")))
    .toSorted();

type Disks = ReadonlyMap<PeerId, MemoryTables>;
const disksOf = (cluster: Cluster): Disks => new Map(ALL.map((peerId) => [peerId, copyOf(cluster.tables.get(peerId))]));

const putBack = (cluster: Cluster, peerId: PeerId, disks: Disks): void =>
  comeBackOn(cluster, peerId, disks.get(peerId) ?? new Map());

/** All members come back on the given disks, register something, and are kept as they are then. */
const branchFrom = (cluster: Cluster, disks: Disks, id: string, seed: number): Disks => {
  for (const peerId of ALL) putBack(cluster, peerId, disks);
  cluster.pass(15_000);
  register(cluster, id, seed);
  cluster.pass(2_000);
  return disksOf(cluster);
};

/** Alice is registered, then bob. */
const begun = () => {
  const cluster = founded();
  register(cluster, "alice", 7);
  const alice = disksOf(cluster);
  register(cluster, "bob", 8);
  return { cluster, alice, bob: disksOf(cluster) };
};

/** The writer alone has applied bob when it is restored without it, and the others abort it. */
const abortedBeside = (cluster: Cluster, alice: Disks) => {
  cluster.tamper = (from, to, message) =>
    from === 1 && message._tag === "Commit" ? undefined : whole(from, to, message);
  cluster.register(1, "register bob", "bob", 8);
  cluster.pass(500);
  const applied = disksOf(cluster);
  putBack(cluster, 1, alice);
  cluster.tamper = (from, to, message) =>
    from !== 1 && to !== 1 && message._tag === "SettleAnswer" ? undefined : whole(from, to, message);
  cluster.pass(20_000);
  expectWhole(cluster, 1);
  cluster.tamper = whole;
  return { applied, aborted: disksOf(cluster) };
};

describe("a disk of a branch that was left", () => {
  it("is not taken for the newest one for a clock that was years ahead: nothing is guessed, and nothing is lost", () => {
    const { cluster, alice, bob } = begun();
    cluster.clockOffsets.set(2, YEARS);
    for (const peerId of ALL) putBack(cluster, peerId, alice);
    cluster.pass(3_000);
    cluster.clockOffsets.clear();
    cluster.pass(12_000);
    register(cluster, "yves", 9);
    const left = disksOf(cluster);
    const now = branchFrom(cluster, bob, "zoe", 10);
    putBack(cluster, 3, left);
    for (const peerId of [1, 2]) declare(cluster, peerId);
    cluster.pass(20_000);
    expect(namesAt(cluster, 1)).toEqual(["alice", "bob", "zoe"]);
    expect(stateOf(cluster, 1).rejoining.recovery?.waitsFor).toContain(
      "peers 1 and 3 were in different restores of all",
    );
    putBack(cluster, 3, alice);
    cluster.pass(20_000);
    for (const peerId of ALL) expect(namesAt(cluster, peerId)).toEqual(["alice", "bob", "zoe"]);
    expectWhole(cluster, 3);
    expect(now.size).toBe(3);
  });

  it("contradicts one of the very same incarnations: the writer's disk stays as it was, and another backup helps", () => {
    const { cluster, alice, bob } = begun();
    const at = cluster.now;
    const yves = branchFrom(cluster, alice, "yves", 9);
    cluster.clockOffset = at - cluster.now;
    const zoe = branchFrom(cluster, alice, "zoe", 10);
    cluster.clockOffset = 0;
    putBack(cluster, 1, bob);
    putBack(cluster, 2, yves);
    putBack(cluster, 3, zoe);
    cluster.pass(20_000);
    expect(stateOf(cluster, 1).rejoining.recovery?.waitsFor).toContain("put another backup of a peer in its place");
    expect(ALL.map((peerId) => namesAt(cluster, peerId)[1])).toEqual(["bob", "yves", "zoe"]);
    putBack(cluster, 3, alice);
    cluster.pass(20_000);
    for (const peerId of ALL) expect(namesAt(cluster, peerId)).toEqual(["alice", "yves"]);
  });

  it("leaves no member with slots counted that are not there", () => {
    const { cluster, alice } = begun();
    register(cluster, "carol", 9);
    register(cluster, "dave", 10);
    const left = disksOf(cluster);
    branchFrom(cluster, alice, "mallory", 8);
    putBack(cluster, 3, left);
    for (const peerId of [1, 2]) declare(cluster, peerId);
    cluster.pass(15_000);
    for (const peerId of ALL) expect(namesAt(cluster, peerId)).toEqual(["alice", "mallory"]);
    const [first] = ALL.map((peerId) => stateOf(cluster, peerId).undecided.decidedSeq);
    expect(ALL.map((peerId) => stateOf(cluster, peerId).undecided.decidedSeq)).toEqual(ALL.map(() => first));
    expect(first).toBeLessThan(4);
  });

  it("does not end again what all have come back with since then", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    const alice = disksOf(cluster);
    const { applied, aborted } = abortedBeside(cluster, alice);
    putBack(cluster, 1, applied);
    for (const peerId of [2, 3]) putBack(cluster, peerId, alice);
    cluster.pass(20_000);
    expectWhole(cluster, 2);
    putBack(cluster, 2, aborted);
    for (const peerId of [1, 3]) declare(cluster, peerId);
    cluster.pass(20_000);
    expectWhole(cluster, 2);
  });

  it("has nothing to say for what was never agreed upon again, whoever was restored before", () => {
    const cluster = founded();
    declare(cluster, 1);
    cluster.pass(5_000);
    register(cluster, "alice", 7);
    const { applied } = abortedBeside(cluster, disksOf(cluster));
    putBack(cluster, 1, applied);
    for (const peerId of [2, 3]) declare(cluster, peerId);
    cluster.pass(20_000);
    expectWhole(cluster, 1);
  });
});

describe("how new a disk says that it is", () => {
  /** All members are restored; the third claims this of its disk, until it is asked again. */
  const claiming = (incarnations: (now: number) => number) => {
    const { cluster } = begun();
    for (const peerId of ALL) declare(cluster, peerId);
    cluster.tamper = (from, _to, message) => {
      if (message._tag !== "SnapshotOffer" || from !== 3 || message.own === undefined) return message;
      const own = {
        ...message.own,
        incarnations: ALL.map((peerId) => incarnations(stateOf(cluster, peerId).signed.chain.incarnation)),
      };
      return { ...message, items: [], upTo: undefined, own };
    };
    cluster.pass(8_000);
    return cluster;
  };

  it.each([
    ["by one", (now: number) => now + 1],
    ["as far as numbers go", () => Number.MAX_SAFE_INTEGER],
  ])("is not believed where that is later than the incarnations on record, %s", (_how, incarnations) => {
    const cluster = claiming(incarnations);
    expect(stateOf(cluster, 1).rejoining.recovery?.waitsFor).toContain("what peer 3 has does not hold");
    cluster.tamper = whole;
    cluster.pass(12_000);
    expectWhole(cluster, 2);
  });

  it("may be the incarnation of a member that has not come to its end yet", () => {
    const { cluster } = begun();
    cluster.tamper = (from, to, message) =>
      message._tag === "SnapshotOffer" && to === 2 ? undefined : whole(from, to, message);
    declare(cluster, 2);
    cluster.pass(2_000);
    declare(cluster, 3);
    cluster.pass(8_000);
    expect([2, 3].map((peerId) => stateOf(cluster, peerId).rejoining.recovery === undefined)).toEqual([false, true]);
    for (const peerId of [1, 3]) declare(cluster, peerId);
    cluster.tamper = whole;
    cluster.pass(15_000);
    expectWhole(cluster, 2);
  });
});
