/** Every member is being restored at once: their disks are united, and the cluster goes on. */
import { describe, expect, it } from "vitest";
import { CAPACITIES } from "../base/Capacities.ts";
import { Cluster, founded, whole } from "../../properties/cluster/Cluster.ts";
import {
  comeBackOn,
  copyOf,
  declare,
  diskAfter,
  expectWhole,
  register,
  stateOf,
} from "../../properties/cluster/Restoring.ts";

const ALL = [1, 2, 3];

const refOf = (cluster: Cluster, id: string): string => {
  const answer = cluster.answers.get(`register ${id}`);
  if (answer?._tag !== "Registered") throw new Error(`${id} was not registered`);
  return answer.approver.ref;
};

const namesAt = (cluster: Cluster, peerId: number): ReadonlyArray<string> =>
  [...(cluster.tables.get(peerId)?.get("approvers")?.keys() ?? [])]
    .map((ref) => ref.slice(0, ref.indexOf("@")))
    .toSorted();

/** A disk of each member after every registration, by name. */
const withDisks = (...ids: ReadonlyArray<string>) => {
  const cluster = founded();
  const disks = new Map(
    ids.map((id, index) => {
      register(cluster, id, 7 + index);
      return [id, new Map(ALL.map((peerId) => [peerId, copyOf(cluster.tables.get(peerId))]))];
    }),
  );
  const putBack = (peerId: number, id: string): void =>
    comeBackOn(cluster, peerId, disks.get(id)?.get(peerId) ?? new Map());
  return { cluster, putBack };
};

describe("a restore of every member", () => {
  it("that none of them needed takes nothing away", () => {
    const { cluster } = withDisks("alice", "bob");
    for (const peerId of ALL) declare(cluster, peerId);
    cluster.pass(12_000);
    expectWhole(cluster, 2);
    register(cluster, "carol", 20, 3);
    expect(cluster.answers.get("register carol")).toMatchObject({ _tag: "Registered", created: true });
    cluster.pass(2_000);
    expectWhole(cluster, 3);
  });

  it.each([
    ["the writer", 1],
    ["another one", 3],
  ])("keeps what only the disk of %s has", (_whose, newest) => {
    const { cluster, putBack } = withDisks("alice", "bob", "carol");
    for (const peerId of ALL) putBack(peerId, peerId === newest ? "carol" : "alice");
    cluster.pass(15_000);
    expectWhole(cluster, 3);
    for (const peerId of ALL) expect(namesAt(cluster, peerId)).toEqual(["alice", "bob", "carol"]);
  });

  it("of which the writer's disk is many pages ahead ends", () => {
    const capacities = { ...CAPACITIES, preparations: 1, refusals: 1, ownSlots: 1 };
    const cluster = new Cluster(3, () => ({ capacities }));
    cluster.pass(2_000);
    const early = new Map(ALL.map((peerId) => [peerId, copyOf(cluster.tables.get(peerId))]));
    const ids = ["alice", "bob", "carol", "dave", "erin", "frank"];
    for (const [index, id] of ids.entries()) register(cluster, id, 7 + index);
    declare(cluster, 1);
    for (const peerId of [2, 3]) comeBackOn(cluster, peerId, early.get(peerId) ?? new Map());
    cluster.pass(15_000);
    expectWhole(cluster, ids.length);
  });

  it("from before the founding, but for one, keeps what that one has", () => {
    const { cluster } = withDisks("alice");
    declare(cluster, 2);
    for (const peerId of [1, 3]) comeBackOn(cluster, peerId, diskAfter(cluster, peerId, 1));
    cluster.pass(15_000);
    expectWhole(cluster, 1);
  });

  it("keeps every revision", () => {
    const { cluster } = withDisks("alice");
    cluster.replace(1, "replace", refOf(cluster, "alice"), '"1"', { team: "b" });
    cluster.pass(1_500);
    const newest = copyOf(cluster.tables.get(2));
    for (const peerId of [1, 3]) comeBackOn(cluster, peerId, diskAfter(cluster, peerId, 4));
    comeBackOn(cluster, 2, newest);
    cluster.pass(15_000);
    expectWhole(cluster, 1);
    expect(cluster.row(1, "approvers", refOf(cluster, "alice"))).toMatchObject({
      revision: 2,
      metadata: [["team", "b"]],
    });
  });

  it("waits for all, and says for what", () => {
    const { cluster } = withDisks("alice");
    cluster.tamper = (_from, _to, message) => (message._tag === "SnapshotOffer" ? undefined : message);
    for (const peerId of ALL) declare(cluster, peerId);
    cluster.pass(4_000);
    expect(stateOf(cluster, 2).rejoining.recovery?.waitsFor).toContain("peer 1, the writer, puts together");
    expect(stateOf(cluster, 1).rejoining.recovery?.waitsFor).toContain("takes the registry from peer");
    cluster.tamper = whole;
    cluster.pass(12_000);
    expectWhole(cluster, 1);
  });

  it("is begun again where a member is restored in the middle of it", () => {
    const { cluster, putBack } = withDisks("alice", "bob");
    cluster.tamper = (from, to, message) =>
      message._tag === "SnapshotOffer" && from === 3 ? undefined : whole(from, to, message);
    for (const peerId of ALL) putBack(peerId, "alice");
    cluster.pass(3_000);
    putBack(2, "bob");
    cluster.tamper = whole;
    cluster.pass(15_000);
    expectWhole(cluster, 2);
  });

  it("brings nothing back of which one disk knows that it was aborted", () => {
    const { cluster, putBack } = withDisks("alice");
    // The writer applies bob, is restored without it before anybody hears of that, and bob is aborted.
    cluster.tamper = (from, to, message) =>
      from === 1 && message._tag === "Commit" ? undefined : whole(from, to, message);
    cluster.register(1, "register bob", "bob", 8);
    cluster.pass(500);
    expect(ALL.map((peerId) => namesAt(cluster, peerId).length)).toEqual([2, 1, 1]);
    const applied = copyOf(cluster.tables.get(1));
    putBack(1, "alice");
    // The other two have all receipts between them, and do not find out.
    cluster.tamper = (from, to, message) =>
      from !== 1 && to !== 1 && message._tag === "SettleAnswer" ? undefined : whole(from, to, message);
    cluster.pass(20_000);
    expectWhole(cluster, 1);
    cluster.tamper = whole;
    comeBackOn(cluster, 1, applied);
    for (const peerId of [2, 3]) declare(cluster, peerId);
    cluster.pass(20_000);
    expectWhole(cluster, 1);
  });

  it("keeps what one disk alone has applied, and what another has only prepared", () => {
    const { cluster } = withDisks("alice");
    cluster.tamper = (from, to, message) =>
      from === 1 && message._tag === "Commit" ? undefined : whole(from, to, message);
    cluster.register(1, "register bob", "bob", 8);
    cluster.pass(500);
    for (const peerId of ALL) declare(cluster, peerId);
    cluster.tamper = whole;
    cluster.pass(20_000);
    expectWhole(cluster, 2);
  });

  it("takes what was given up for what it is, although a disk still has it", () => {
    const { cluster, putBack } = withDisks("alice", "bob");
    // Nobody has bob: its key is free again, and somebody else takes it.
    for (const peerId of ALL) putBack(peerId, "alice");
    cluster.pass(15_000);
    expectWhole(cluster, 1);
    cluster.register(1, "register mallory", "mallory", 8);
    cluster.pass(2_000);
    expect(cluster.answers.get("register mallory")).toMatchObject({ created: true });
    putBack(3, "bob");
    for (const peerId of [1, 2]) declare(cluster, peerId);
    cluster.pass(15_000);
    expectWhole(cluster, 2);
    for (const peerId of ALL) expect(namesAt(cluster, peerId)).toEqual(["alice", "mallory"]);
  });

  for (const old of ALL)
    it(`keeps what the newest incarnations have, whatever an older branch lacks: that of peer ${old}`, () => {
      const { cluster, putBack } = withDisks("alice", "bob");
      for (const peerId of ALL) putBack(peerId, "alice");
      cluster.pass(15_000);
      register(cluster, "yves", 9);
      cluster.pass(2_000);
      const branch = copyOf(cluster.tables.get(old));
      for (const peerId of ALL) putBack(peerId, "bob");
      cluster.pass(15_000);
      register(cluster, "zoe", 10);
      cluster.pass(2_000);
      for (const peerId of ALL) expect(namesAt(cluster, peerId)).toEqual(["alice", "bob", "zoe"]);
      comeBackOn(cluster, old, branch);
      for (const peerId of ALL) if (peerId !== old) declare(cluster, peerId);
      cluster.pass(20_000);
      for (const peerId of ALL) expect(namesAt(cluster, peerId)).toEqual(["alice", "bob", "zoe"]);
    });
});
