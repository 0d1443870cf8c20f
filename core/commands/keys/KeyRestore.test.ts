import { describe, expect, it } from "vitest";
import type { Cluster } from "../../../properties/cluster/Cluster.ts";
import { create, destroy, each, held, keyed, renew } from "../../../properties/cluster/Keyed.ts";
import { comeBackOn, copyOf, declare, diskAfter, expectWhole } from "../../../properties/cluster/Restoring.ts";
import type { MemoryTables } from "../../../runtime/MemoryByteStore.ts";
import { generationKey } from "./Tables.ts";

const peers = [1, 2, 3];

const diskOf = (cluster: Cluster, peerId: number): MemoryTables => copyOf(cluster.tables.get(peerId));

const made = (): Cluster => {
  const cluster = keyed();
  create(cluster, 1, "create");
  cluster.pass(2_000);
  return cluster;
};

/** Peer 2 comes back on an older disk, and its restore is declared. */
const restored = (cluster: Cluster, disk: MemoryTables): void => {
  comeBackOn(cluster, 2, disk);
  cluster.pass(8_000);
  expectWhole(cluster, 0);
};

const expectSameRows = (cluster: Cluster, generations: number): void => {
  for (const peerId of peers) {
    expect(cluster.row(peerId, "custodyKeys", "k1")).toEqual(cluster.row(1, "custodyKeys", "k1"));
    for (let generation = 1; generation <= generations; generation++) {
      const key = generationKey("k1", generation);
      expect(cluster.row(peerId, "generations", key)).toEqual(cluster.row(1, "generations", key));
    }
  }
};

describe("a member restored from before a key was made", () => {
  const lost = (): Cluster => {
    const cluster = keyed();
    const disk = diskOf(cluster, 2);
    create(cluster, 1, "create");
    cluster.pass(2_000);
    restored(cluster, disk);
    return cluster;
  };

  it("has all that everybody knows of it, and no share", () => {
    const cluster = lost();
    expectSameRows(cluster, 1);
    expect(held(cluster)).toEqual({ ...each(1, 1), shares: [1, 0, 1] });
  });

  it("refuses to refresh what it lacks, and takes part in a new generation", () => {
    const cluster = lost();
    renew(cluster, 3, "refresh", "refresh", 1);
    cluster.pass(1_000);
    expect(cluster.answers.get("refresh")).toMatchObject({
      _tag: "Rejected",
      rejection: { code: "SHARE_MISSING", members: [{ peerId: 2 }] },
    });
    renew(cluster, 3, "rotate", "rotate", 1);
    cluster.pass(2_000);
    expect(cluster.answers.get("rotate")).toMatchObject({ _tag: "KeyMade", key: { generation: 2 } });
    expect(held(cluster)).toEqual({ ...each(1, 2), shares: [2, 1, 2] });
  });
});

describe("a member restored with a share that is gone everywhere else", () => {
  it("erases what a refresh had replaced", () => {
    const cluster = made();
    const disk = diskOf(cluster, 2);
    renew(cluster, 1, "refresh", "refresh", 1);
    cluster.pass(2_000);
    restored(cluster, disk);
    expectSameRows(cluster, 2);
    expect(held(cluster)).toEqual({ ...each(1, 1), shares: [1, 0, 1] });
  });

  it("erases what was destroyed, with its generation and with its key", () => {
    const cluster = made();
    const first = diskOf(cluster, 2);
    renew(cluster, 1, "rotate", "rotate", 1);
    cluster.pass(2_000);
    destroy(cluster, 1, "destroy", { baseGeneration: 2, generation: 1 });
    cluster.pass(2_000);
    restored(cluster, first);
    expectSameRows(cluster, 2);
    expect(held(cluster)).toEqual({ ...each(1, 1), shares: [1, 0, 1] });
    destroy(cluster, 1, "destroy all", { baseGeneration: 2, generation: 2, final: true });
    cluster.pass(2_000);
    restored(cluster, first);
    expectSameRows(cluster, 2);
    expect(held(cluster)).toEqual(each(1, 0));
  });
});

describe("a member restored from the moment before it applied a key", () => {
  it("keeps its share where the others have the very key", () => {
    const cluster = keyed();
    const before = cluster.committed.filter(({ peerId }) => peerId === 2).length;
    create(cluster, 1, "create");
    cluster.pass(2_000);
    const counts = [1, 2, 3].map((more) => diskAfter(cluster, 2, before + more).get("pending")?.size ?? 0);
    const disk = diskAfter(cluster, 2, before + counts.lastIndexOf(1) + 1);
    expect(disk.get("preparations")?.size).toBe(1);
    restored(cluster, disk);
    expectSameRows(cluster, 1);
    expect(held(cluster)).toEqual(each(1, 1));
  });

  it("has no share of a key that was destroyed since", () => {
    const cluster = keyed();
    const before = cluster.committed.filter(({ peerId }) => peerId === 2).length;
    create(cluster, 1, "create");
    cluster.pass(2_000);
    const disks = [1, 2, 3].map((more) => diskAfter(cluster, 2, before + more));
    const prepared = disks.find((disk) => disk.get("preparations")?.size === 1);
    if (prepared === undefined) throw new Error("it was never prepared");
    expect(prepared.get("pending")?.size).toBe(1);
    destroy(cluster, 1, "destroy", { baseGeneration: 1, generation: 1, final: true });
    cluster.pass(2_000);
    restored(cluster, prepared);
    expectSameRows(cluster, 1);
    expect(held(cluster)).toEqual(each(1, 0));
  });

  it("has nothing of a key that nobody has: it goes with the restore", () => {
    const cluster = keyed();
    cluster.tamper = (_from, _to, message) => (message._tag === "Prepare" ? undefined : message);
    create(cluster, 1, "create");
    cluster.pass(400);
    expect(held(cluster).pending).toEqual([1, 1, 1]);
    declare(cluster, 2);
    cluster.tamper = (_from, _to, message) => message;
    cluster.pass(75_000);
    expect(held(cluster)).toEqual(each(0, 0));
    expectWhole(cluster, 0);
  });
});

describe("a cluster in which all are restored", () => {
  it("puts keys together from what certificates prove, in any order of their changes", () => {
    const cluster = made();
    renew(cluster, 1, "rotate", "rotate", 1);
    cluster.pass(2_000);
    const older = diskOf(cluster, 3);
    destroy(cluster, 1, "destroy", { baseGeneration: 2, generation: 1 });
    renew(cluster, 1, "refresh", "refresh", 2);
    cluster.pass(4_000);
    expect(cluster.answers.get("refresh")).toMatchObject({ _tag: "KeyMade", generation: { generation: 3 } });
    const before = cluster.row(1, "custodyKeys", "k1");
    comeBackOn(cluster, 1, diskOf(cluster, 1));
    comeBackOn(cluster, 2, diskOf(cluster, 2));
    comeBackOn(cluster, 3, older);
    cluster.pass(20_000);
    expectWhole(cluster, 0);
    expectSameRows(cluster, 3);
    expect(cluster.row(3, "custodyKeys", "k1")).toEqual(before);
    expect(cluster.row(3, "generations", generationKey("k1", 1))?.state).toBe("DESTROYED");
    expect(cluster.row(3, "generations", generationKey("k1", 2))?.state).toBe("SUPERSEDED");
    expect(held(cluster).shares).toEqual([1, 1, 0]);
  });
});
