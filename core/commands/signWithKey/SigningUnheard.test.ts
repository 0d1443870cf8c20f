import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { KeyedCluster } from "../../../properties/cluster/PlantedKeys.ts";

const data = utf8ToBytes("pay 5");

describe("a peer that has not heard from a member since it was started", () => {
  it("signs with those that it has heard, and goes on", () => {
    const cluster = new KeyedCluster();
    cluster.plantKey("payments");
    cluster.peers.delete(2);
    cluster.start(1);
    cluster.pass(2_000);
    cluster.sign(1, "one", "payments", data);
    cluster.pass(2_000);
    expect(cluster.answers.get("one")).toMatchObject({ _tag: "Signed" });
  });
});
