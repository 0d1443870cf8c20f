import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it, vi } from "vitest";
import { rowsOf } from "../../../properties/cluster/Cluster.ts";
import { eddsa, KeyedCluster } from "../../../properties/cluster/PlantedKeys.ts";
import { generationKey } from "../keys/Tables.ts";

const data = utf8ToBytes("pay 5");

describe("a peer that is alone", () => {
  it("signs with its key after one flush of its consent", () => {
    const cluster = new KeyedCluster(1);
    cluster.plantKey("payments");
    const { length } = cluster.committed;
    cluster.sign(1, "one", "payments", data);
    expect(cluster.answers.get("one")).toMatchObject({ _tag: "Signed", generation: 1, imposters: [] });
    expect(cluster.committed.length - length).toBe(1);
    expect(rowsOf(cluster, "consents")).toEqual([1]);
  });

  it("answers with no signature that does not verify, and consents to none", () => {
    const cluster = new KeyedCluster(1);
    cluster.plantKey("payments");
    const spoiled = vi.spyOn(eddsa.solo, "sign").mockReturnValue("00".repeat(64));
    cluster.sign(1, "one", "payments", data);
    spoiled.mockRestore();
    expect(cluster.answers.get("one")).toMatchObject({
      _tag: "Rejected",
      rejection: { members: [{ peerId: 1, reason: "its signature does not verify: look after this machine" }] },
    });
    expect(rowsOf(cluster, "consents")).toEqual([0]);
  });

  it("that has lost its private key says so, and names itself", () => {
    const cluster = new KeyedCluster(1);
    cluster.plantKey("payments");
    cluster.write(1, [{ op: "remove", table: "shares", key: generationKey("payments", 1) }]);
    cluster.sign(1, "one", "payments", data);
    expect(cluster.answers.get("one")).toMatchObject({
      _tag: "Rejected",
      rejection: {
        code: "SHARE_MISSING",
        members: [{ peerId: 1, reason: "its share of the key is missing" }],
      },
    });
    expect(rowsOf(cluster, "consents")).toEqual([0]);
  });
});
