import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { rowsOf } from "../../../properties/cluster/Cluster.ts";
import { KeyedCluster, toy } from "../../../properties/cluster/PlantedKeys.ts";

const data = utf8ToBytes("pay 5");

describe("a signature", () => {
  it.each([1, 2, 3])("is made by two of three through peer %i", (through) => {
    const cluster = new KeyedCluster();
    const { generation } = cluster.plantKey("payments");
    cluster.sign(through, "one", "payments", data);
    cluster.settle();
    expect(cluster.answers.get("one")).toMatchObject({ _tag: "Signed", generation: 1, imposters: [] });
    expect(toy.verify(generation.publicKey, data, cluster.signatureOf("one") ?? "")).toBe(true);
    expect(rowsOf(cluster, "consents").toSorted()).toEqual([0, 1, 1]);
  });
});
