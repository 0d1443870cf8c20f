import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { whole } from "../../../properties/cluster/Cluster.ts";
import { KeyedCluster } from "../../../properties/cluster/PlantedKeys.ts";
import type { Message } from "../../Message.ts";
import { signingIn } from "./SigningState.ts";

const data = utf8ToBytes("pay 5");

describe("a peer that has not heard from a member since it was started", () => {
  it("signs with those that it has heard", () => {
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

describe("a member that says it speaks an older version", () => {
  it("stops nobody with a message about keys", () => {
    const cluster = new KeyedCluster();
    cluster.plantKey("payments");
    const opens: Array<Message> = [];
    cluster.tamper = (from, to, message) => {
      if (message._tag !== "Sign.Open") return whole(from, to, message);
      opens.push(message);
      return undefined;
    };
    cluster.sign(1, "one", "payments", data);
    const [open] = opens;
    if (open === undefined) throw new Error("nobody was asked");
    // What the second one is answered is written in the version that the first one claimed.
    for (const _ of ["first", "second"]) cluster.deliver(2, 1, open, { lowest: 1, highest: 2 });
    expect(cluster.peers.get(2)?.state.cluster.spoken.get(1)).toEqual({ lowest: 1, highest: 2 });
    expect(signingIn(cluster.peers.get(2)?.state ?? { modules: {} }).sessions.size).toBe(1);
  });
});
