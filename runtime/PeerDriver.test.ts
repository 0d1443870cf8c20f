import { bytesToHex } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { Cluster } from "../properties/cluster/Cluster.ts";

describe("the driver with real crypto, envelopes and sealed rows", () => {
  for (const total of [1, 2, 3, 5])
    it(`founds a cluster of ${total} and registers through every peer`, () => {
      const cluster = new Cluster(total);
      cluster.pass(2_000);
      const digests = new Set([...cluster.peers.values()].map((each) => each.state.cluster.membership?.digest));
      expect(digests.size).toBe(1);
      expect([...digests][0]).toBeDefined();
      for (let through = 1; through <= total; through++)
        cluster.register(through, `r${through}`, `alice-${through}`, through);
      cluster.pass(100);
      for (let through = 1; through <= total; through++)
        expect(cluster.answers.get(`r${through}`)).toMatchObject({ _tag: "Registered", created: true });
      cluster.pass(3_000);
      for (const { state } of cluster.peers.values()) {
        expect(state.registry.approvers).toBe(total);
        expect(state.undecided.locks.size).toBe(0);
        expect(state.undecided.outbox.size).toBe(0);
        expect(state.undecided.preparations.size).toBe(0);
      }
      const rows = [...cluster.tables.values()].map((tables) =>
        [...(tables.get("approvers")?.entries() ?? [])].map(([key, { row }]) => `${key} ${bytesToHex(row)}`).toSorted(),
      );
      for (const each of rows) expect(each).toEqual(rows[0]);
    });

  it("answers an identical retry 200 and the same key under another id 409", () => {
    const cluster = new Cluster(3);
    cluster.pass(2_000);
    cluster.register(3, "first", "alice", 7);
    cluster.register(2, "joined", "alice", 7);
    cluster.pass(100);
    cluster.register(1, "again", "alice", 7);
    cluster.register(2, "other", "mallory", 7);
    cluster.register(1, "version", "alice", 8);
    cluster.pass(100);
    const created = ["first", "joined", "again", "version"].map((each) => cluster.answers.get(each));
    expect(created.map((each) => each?._tag === "Registered" && each.created)).toEqual([true, false, false, true]);
    expect(cluster.answers.get("other")).toMatchObject({
      _tag: "Rejected",
      rejection: { code: "KEY_ALREADY_REGISTERED" },
    });
  });

  it("says when it is done with an event, be it by forgetting it", () => {
    const cluster = new Cluster(1);
    const driver = cluster.peers.get(1);
    const consumed: Array<string> = [];
    const ask = (name: string) =>
      driver?.dispatch({ _tag: "CheckReadiness", requestId: name }, () => void consumed.push(name));
    cluster.onReply = (name) => {
      if (name !== "first") return;
      // An event that comes in during a step waits behind it.
      ask("second");
      expect(consumed).toEqual([]);
    };
    ask("first");
    expect(consumed).toEqual(["first", "second"]);
    cluster.onReply = (name) => {
      if (name !== "third") return;
      ask("forgotten");
      driver?.stop();
    };
    ask("third");
    ask("too late");
    expect(consumed.slice(2)).toEqual(["forgotten", "third", "too late"]);
  });

  it("gives way between events that wait, handles none twice or out of order, and none after a stop", () => {
    const cluster = new Cluster(1);
    const driver = cluster.peers.get(1);
    const answered: Array<string> = [];
    const ask = (name: string) => driver?.dispatch({ _tag: "CheckReadiness", requestId: name });
    let resume: () => void = () => undefined;
    cluster.giveWay = (goOn) => {
      resume = goOn;
      return true;
    };
    cluster.onReply = (name) => {
      answered.push(name);
      if (name === "a") for (const each of ["b", "c", "d"]) ask(each);
    };
    ask("a");
    expect(answered).toEqual(["a"]);
    // What comes while others have their turn waits behind what was there.
    ask("e");
    expect(answered).toEqual(["a"]);
    for (const heard of [["b"], ["c"], ["d"]]) {
      resume();
      expect(answered.slice(-1)).toEqual(heard);
    }
    driver?.stop();
    resume();
    expect(answered).toEqual(["a", "b", "c", "d"]);
  });

  it("comes back after every peer was stopped", () => {
    const cluster = new Cluster(3);
    cluster.pass(2_000);
    cluster.register(2, "first", "alice", 7);
    cluster.pass(100);
    for (const [peerId, driver] of cluster.peers) {
      driver.stop();
      cluster.start(peerId);
    }
    cluster.pass(3_000);
    cluster.register(3, "second", "bob", 9);
    cluster.pass(100);
    expect(cluster.answers.get("second")).toMatchObject({ _tag: "Registered", created: true });
    for (const { state } of cluster.peers.values()) expect(state.registry.approvers).toBe(2);
  });

  it("names the member that does not answer", () => {
    const cluster = new Cluster(3);
    cluster.pass(2_000);
    cluster.peers.get(2)?.stop();
    cluster.register(3, "blocked", "alice", 7);
    cluster.pass(5_000);
    expect(cluster.answers.get("blocked")).toMatchObject({
      _tag: "Rejected",
      rejection: { code: "APPROVER_REPLICATION_UNAVAILABLE", members: [{ peerId: 2, reason: "it does not answer" }] },
    });
    for (const { state } of cluster.peers.values()) expect(state.undecided.locks.size).toBe(0);
  });
});
