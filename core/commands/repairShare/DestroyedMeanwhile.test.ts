/** A repair whose key or generation is destroyed while it is under way: the lost share must stay away. */
import { expect, it } from "vitest";
import { codeOf, whole } from "../../../properties/cluster/Cluster.ts";
import { create, destroy, held, keeper, renew } from "../../../properties/cluster/Keyed.ts";
import { KeyedCluster } from "../../../properties/cluster/PlantedKeys.ts";
import { stateOf } from "../../../properties/cluster/Restoring.ts";
import { generationKey } from "../keys/Tables.ts";
import { repairs } from "./RepairState.ts";

/** Peer 3 has lost its share of the first of two generations, and what peer 2 tells it for its repair is lost too. */
const underRepair = (): KeyedCluster => {
  const cluster = new KeyedCluster();
  cluster.judge = () => keeper;
  create(cluster, 2, "made");
  cluster.pass(2_000);
  cluster.write(3, [{ op: "remove", table: "shares", key: generationKey("k1", 1) }]);
  renew(cluster, 2, "rotate", "rotate", 1);
  cluster.pass(2_000);
  expect(held(cluster).shares).toEqual([2, 2, 1]);
  cluster.tamper = (from, to, message) =>
    message._tag === "Repair.Sum" && from === 2 ? undefined : whole(from, to, message);
  cluster.repair(3, "repair", "k1", [1, 2]);
  cluster.settle();
  return cluster;
};

const helpingAt = (cluster: KeyedCluster, peerId: number): number =>
  (stateOf(cluster, peerId).modules[repairs.name] as typeof repairs.empty | undefined)?.helping.size ?? 0;

it.each<readonly [string, object, string, ReadonlyArray<number>]>([
  ["a destroyed key", { generation: 2, final: true }, "KEY_DESTROYED", [0, 0, 0]],
  ["a destroyed generation", { generation: 1 }, "Repaired", [1, 1, 1]],
])("stores no share of %s", (_what, destruction, code, shares) => {
  const cluster = underRepair();
  expect([1, 2].map((peerId) => helpingAt(cluster, peerId))).toEqual([1, 1]);
  destroy(cluster, 1, "destroy", { baseGeneration: 2, ...destruction });
  cluster.pass(3_000);
  expect(codeOf(cluster, "destroy")).toBe("KeyDestroyed");
  expect([1, 2].map((peerId) => helpingAt(cluster, peerId))).toEqual([0, 0]);
  cluster.tamper = whole;
  cluster.pass(3_000);
  expect(codeOf(cluster, "repair")).toBe(code);
  expect(held(cluster).shares).toEqual(shares);
});

it("is told nothing more by helpers, though it has not heard of the destruction itself", () => {
  const cluster = underRepair();
  const told: Array<string> = [];
  cluster.tamper = (from, to, message) => {
    if (to === 3 && message._tag.startsWith("Repair.")) told.push(message._tag);
    return to === 3 && message._tag === "Commit" ? undefined : whole(from, to, message);
  };
  destroy(cluster, 1, "destroy", { baseGeneration: 2, generation: 2, final: true });
  cluster.pass(900);
  expect(held(cluster).shares).toEqual([0, 0, 1]);
  expect(told).not.toContain("Repair.Sum");
});
