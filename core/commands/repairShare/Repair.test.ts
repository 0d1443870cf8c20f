import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { KeyedCluster, eddsa } from "../../../properties/cluster/PlantedKeys.ts";
import { generationKey } from "../keys/Tables.ts";

const data = utf8ToBytes("pay 5");

const withoutShare = (peerId: number, generations = 1) => {
  const cluster = new KeyedCluster();
  for (let no = 1; no <= generations; no += 1) cluster.plantKey("payments", no, no);
  for (let no = 1; no <= generations; no += 1)
    cluster.write(peerId, [{ op: "remove", table: "shares", key: generationKey("payments", no) }]);
  return cluster;
};

describe("a lost share", () => {
  it.each([1, 2, 3])("is made again by two others at peer %i, which signs again", (target) => {
    const cluster = withoutShare(target);
    const helpers = [1, 2, 3].filter((each) => each !== target);
    cluster.repair(target, "one", "payments", helpers);
    cluster.settle();
    expect(cluster.answers.get("one")).toEqual({ _tag: "Repaired", generations: [1] });
    const [other, away] = helpers;
    cluster.peers.delete(away ?? 0);
    cluster.sign(target, "two", "payments", data);
    cluster.pass(1_000);
    expect(cluster.answers.get("two")).toMatchObject({ _tag: "Signed", imposters: [] });
    expect(other).toBeDefined();
    expect(eddsa.shared).toBeDefined();
  });
});
