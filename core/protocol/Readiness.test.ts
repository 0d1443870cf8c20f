import { describe, expect, it } from "vitest";
import { Cluster } from "../../properties/cluster/Cluster.ts";
import type { Message } from "./Message.ts";

describe("an answer to a probe", () => {
  it("of a life that is over makes nobody ready", () => {
    const cluster = new Cluster(2);
    cluster.pass(4_000);
    const held: Array<Message> = [];
    let isHolding = true;
    cluster.tamper = (from, to, message) => {
      if (!isHolding || from !== 2 || to !== 1 || message._tag !== "Ready") return message;
      held.push(message);
      return undefined;
    };
    cluster.peers.get(1)?.dispatch({ _tag: "CheckReadiness", requestId: "ready?" });
    cluster.settle();
    isHolding = false;
    cluster.peers.get(2)?.dispatch({ _tag: "DeclareRestore", requestId: "declare" });
    cluster.settle();
    const [stale] = held;
    expect(stale).toMatchObject({ _tag: "Ready", mode: "active" });
    expect(cluster.answers.get("ready?")).toBeUndefined();
    if (stale !== undefined) cluster.peers.get(1)?.dispatch({ _tag: "Deliver", from: 2, message: stale, actors: [] });
    cluster.settle();
    expect(cluster.answers.get("ready?")).toEqual({
      _tag: "Readiness",
      faults: [{ peerId: 2, reason: "it was restored meanwhile" }],
    });
  });
});
