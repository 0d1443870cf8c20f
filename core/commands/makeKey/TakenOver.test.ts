/** What a restored peer keeps of its old disk's shares, once it is a member again. */
import { describe, expect, it } from "vitest";
import type { Cluster } from "../../../properties/cluster/Cluster.ts";
import { create, destroy, held, keeper, renew } from "../../../properties/cluster/Keyed.ts";
import { KeyedCluster } from "../../../properties/cluster/PlantedKeys.ts";
import { comeBackOn, copyOf, declare, diskAfter, expectWhole } from "../../../properties/cluster/Restoring.ts";
import { CAPACITIES } from "../../base/Capacities.ts";
import { generationKey } from "../keys/Tables.ts";

const first = generationKey("k1", 1);

const keyedCluster = (summedRecords: number = CAPACITIES.summedRecords): KeyedCluster => {
  const cluster = new KeyedCluster(3, () => ({ capacities: { ...CAPACITIES, summedRecords } }));
  cluster.judge = () => keeper;
  return cluster;
};

const boxOf = (cluster: Cluster, peerId: number, key: string) => cluster.row(peerId, "shares", key)?.box;

describe("a share beside another generation of its number", () => {
  it("goes, and can be repaired", () => {
    const cluster = keyedCluster();
    create(cluster, 1, "one");
    create(cluster, 1, "two", { keyId: "k2" });
    cluster.pass(3_000);
    const [own, other] = [boxOf(cluster, 3, first), boxOf(cluster, 3, generationKey("k2", 1))];
    if (own === undefined || other === undefined) throw new Error("there are no shares");
    cluster.write(3, [{ op: "replace", table: "shares", key: first, row: { box: other } }]);
    declare(cluster, 3);
    cluster.pass(6_000);
    expectWhole(cluster, 0);
    expect(held(cluster).shares).toEqual([2, 2, 1]);
    cluster.repair(3, "repair", "k1", [1, 2]);
    cluster.settle();
    expect(cluster.answers.get("repair")).toEqual({ _tag: "Repaired", generations: [1] });
  });

  it("gives way to what was made of the right one", () => {
    const cluster = keyedCluster();
    const before = cluster.committed.filter(({ peerId }) => peerId === 3).length;
    create(cluster, 1, "one");
    cluster.pass(3_000);
    const disks = [1, 2, 3].map((more) => diskAfter(cluster, 3, before + more));
    const prepared = disks.find((disk) => disk.get("preparations")?.size === 1);
    const made = boxOf(cluster, 3, first);
    if (prepared === undefined || made === undefined) throw new Error("it was never prepared");
    comeBackOn(cluster, 3, prepared, false);
    cluster.write(3, [{ op: "insert", table: "shares", key: first, row: { box: made.map((byte) => byte ^ 1) } }]);
    declare(cluster, 3);
    cluster.pass(6_000);
    expectWhole(cluster, 0);
    expect(held(cluster)).toEqual({ keys: [1, 1, 1], shares: [1, 1, 1], pending: [0, 0, 0] });
    expect(boxOf(cluster, 3, first)).toEqual(made);
  });
});

it("a disk with more shares than are looked at in one transaction is rid of those that are over, and of no others", () => {
  const cluster = keyedCluster(1);
  for (const keyId of ["k1", "k2", "k3"]) create(cluster, 1, keyId, { keyId });
  cluster.pass(4_000);
  const disk = copyOf(cluster.tables.get(3));
  renew(cluster, 1, "rotate", "rotate", 1);
  renew(cluster, 1, "refresh", "refresh", 1, "k2");
  cluster.pass(3_000);
  destroy(cluster, 1, "destroy", { baseGeneration: 2, generation: 1 });
  cluster.pass(3_000);
  expect(held(cluster).shares).toEqual([3, 3, 3]);
  comeBackOn(cluster, 3, disk);
  cluster.pass(6_000);
  expectWhole(cluster, 0);
  expect([...(cluster.tables.get(3)?.get("shares")?.keys() ?? [])]).toEqual([generationKey("k3", 1)]);
});
