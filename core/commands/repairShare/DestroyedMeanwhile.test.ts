/** A repair whose key or generation is destroyed while it is under way: the lost share must stay away. */
import { expect, it } from "vitest";
import { codeOf, whole } from "../../../properties/cluster/Cluster.ts";
import { create, destroy, held, keeper, renew } from "../../../properties/cluster/Keyed.ts";
import { KeyedCluster } from "../../../properties/cluster/PlantedKeys.ts";
import { stateOf } from "../../../properties/cluster/Restoring.ts";
import type { Message } from "../../Message.ts";
import { generationKey } from "../keys/Tables.ts";
import { repairs } from "./RepairState.ts";

/** Peer 3 has lost its shares of these of two generations, and what peer 2 tells it for its repair is lost too. */
const underRepair = (generations: ReadonlyArray<number> = [1]): KeyedCluster => {
  const cluster = new KeyedCluster();
  cluster.judge = () => keeper;
  create(cluster, 2, "made");
  cluster.pass(2_000);
  renew(cluster, 2, "rotate", "rotate", 1);
  cluster.pass(2_000);
  for (const no of generations) cluster.write(3, [{ op: "remove", table: "shares", key: generationKey("k1", no) }]);
  expect(held(cluster).shares).toEqual([2, 2, 2 - generations.length]);
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

it.each([[[1]], [[1, 2]]])("goes on without a destroyed generation, of %j", (generations) => {
  const cluster = underRepair(generations);
  const told: Array<Message> = [];
  cluster.tamper = (from, to, message) => {
    if (message._tag !== "Repair.Sum" || from !== 2) return whole(from, to, message);
    told.push(message);
    return undefined;
  };
  cluster.pass(300);
  const [sum] = told;
  if (sum === undefined) throw new Error("peer 2 has told nothing");
  destroy(cluster, 1, "destroy", { baseGeneration: 2, generation: 1 });
  cluster.settle();
  expect(codeOf(cluster, "destroy")).toBe("KeyDestroyed");
  // What was told before comes late.
  cluster.deliver(3, 2, sum);
  cluster.tamper = whole;
  cluster.pass(3_000);
  expect(cluster.answers.get("repair")).toEqual({ _tag: "Repaired", generations: [2] });
  expect(held(cluster).shares).toEqual([1, 1, 1]);
});

it("names no generation as lost that was destroyed after a helper lacked its own share of it", () => {
  const cluster = underRepair();
  renew(cluster, 2, "again", "rotate", 2);
  cluster.pass(11_000);
  cluster.write(2, [{ op: "remove", table: "shares", key: generationKey("k1", 2) }]);
  cluster.write(3, [{ op: "remove", table: "shares", key: generationKey("k1", 2) }]);
  const asked: Array<ReadonlyArray<number>> = [];
  cluster.tamper = (from, to, message) => {
    if (message._tag === "Repair.Open" && to === 1) asked.push(message.generations.map(({ generation }) => generation));
    return message._tag === "Repair.Sum" && from === 2 ? undefined : whole(from, to, message);
  };
  cluster.repair(3, "another", "k1", [1, 2]);
  cluster.pass(600);
  expect(asked.slice(0, 3)).toEqual([[1, 2], [2], [1]]);
  destroy(cluster, 1, "destroy", { baseGeneration: 3, generation: 2 });
  cluster.settle();
  cluster.tamper = whole;
  cluster.pass(3_000);
  expect(cluster.answers.get("another")).toEqual({ _tag: "Repaired", generations: [1, 3] });
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
