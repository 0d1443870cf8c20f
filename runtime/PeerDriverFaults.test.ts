import { describe, expect, it } from "vitest";
import type { Event } from "../core/protocol/Event.ts";
import { actor, Cluster, inUse } from "../properties/cluster/Cluster.ts";
import { REGISTER_PATH } from "../core/commands/registerKey/Registration.ts";

const command = (requestId: string): Event => ({
  _tag: "Command",
  requestId,
  call: { method: "POST", path: REGISTER_PATH, ifMatch: undefined, rawBody: new Uint8Array(1) },
  token: "token",
  actor,
});

describe("the driver", () => {
  it("stops the peer at a fault nobody foresaw, and takes nothing more", () => {
    const cluster = new Cluster(3);
    cluster.pass(2_000);
    let reasons = 0;
    cluster.onHalt = () => {
      reasons += 1;
    };
    const driver = cluster.peers.get(1);
    cluster.onReply = () => {
      throw new TypeError("a port broke");
    };
    driver?.dispatch(command("one"));
    expect(reasons).toBe(1);
    driver?.dispatch(command("two"));
    expect(driver?.backlog).toBe(0);
    expect(reasons).toBe(1);
  });

  it("writes nothing while sealed, whatever timers still fire, and goes on after the next unseal", () => {
    const cluster = new Cluster(3);
    cluster.pass(2_000);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    expect(cluster.answers.get("request")).toMatchObject({ _tag: "Registered" });
    const writer = cluster.peers.get(1);
    writer?.dispatch({ _tag: "Sealed" });
    const before = cluster.tables.get(1)?.get("head")?.get("self")?.row;
    cluster.pass(5_000);
    expect(cluster.tables.get(1)?.get("head")?.get("self")?.row).toEqual(before);
    const key = cluster.keys.get(1);
    writer?.dispatch({ _tag: "Verifying" });
    if (key !== undefined) writer?.unseal(inUse(key));
    cluster.pass(3_000);
    for (const { state } of cluster.peers.values()) expect(state.undecided.outbox.size).toBe(0);
  });

  it("takes no key for its own but the one it was initialized with", () => {
    const cluster = new Cluster(3);
    cluster.pass(2_000);
    const writer = cluster.peers.get(1);
    const foreign = cluster.keys.get(2);
    writer?.dispatch({ _tag: "Sealed" });
    writer?.dispatch({ _tag: "Verifying" });
    if (foreign !== undefined) writer?.unseal(inUse(foreign));
    expect(writer?.state.fitness.integrityFault).toBe("peer/self");
  });
});
