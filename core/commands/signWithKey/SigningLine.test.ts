import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { codeOf } from "../../../properties/cluster/Cluster.ts";
import { KeyedCluster, keyActor } from "../../../properties/cluster/PlantedKeys.ts";
import { stateOf } from "../../../properties/cluster/Restoring.ts";
import type { ActorCheck } from "../../auth/ActorCheck.ts";
import { CAPACITIES } from "../../base/Capacities.ts";
import { signingIn } from "./SigningState.ts";

const data = utf8ToBytes("pay 5");

const named = (sub: string): ActorCheck =>
  keyActor._tag === "Verified" ? { ...keyActor, claims: { ...keyActor.claims, sub } } : keyActor;

const planted = () => {
  const cluster = new KeyedCluster(3, () => ({
    capacities: { ...CAPACITIES, signaturesAtOnce: 2, proposalsPerMessage: 4 },
  }));
  cluster.plantKey("payments");
  const ask = (sub: string, requestId: string): void => {
    const { judge } = cluster;
    cluster.judge = () => named(sub);
    cluster.sign(1, requestId, "payments", data);
    cluster.judge = judge;
  };
  return { cluster, ask };
};

const underWay = (cluster: KeyedCluster) => [...signingIn(stateOf(cluster, 1)).requests.keys()];
const inLine = (cluster: KeyedCluster) => [...signingIn(stateOf(cluster, 1)).waiting.keys()];

describe("the line of a coordinator", () => {
  it("serves callers in turn: a flood of one delays another by no more than what is under way", () => {
    const { cluster, ask } = planted();
    for (let at = 0; at < 20; at += 1) ask("flood", `flood-${at}`);
    ask("other", "other");
    expect(underWay(cluster)).toEqual(["flood-0", "flood-1"]);
    const order: Array<string> = [];
    cluster.onReply = (requestId) => void order.push(requestId);
    cluster.settle();
    expect(order).toHaveLength(21);
    expect(order.indexOf("other")).toBeLessThan(4);
    for (const each of order) expect(codeOf(cluster, each)).toBe("Signed");
  });

  it("goes on when members are silent, without their requests being given up", () => {
    const { cluster, ask } = planted();
    cluster.peers.delete(2);
    cluster.peers.delete(3);
    for (let at = 0; at < 6; at += 1) ask("caller", `${at}`);
    expect(underWay(cluster)).toEqual(["0", "1"]);
    cluster.pass(300);
    expect(underWay(cluster)).toEqual(["0", "1", "2", "3"]);
    cluster.pass(300);
    expect(inLine(cluster)).toEqual([]);
    expect(cluster.answers.has("0")).toBe(false);
    cluster.pass(10_000);
    for (let at = 0; at < 6; at += 1) expect(codeOf(cluster, `${at}`)).toBe("SIGNING_QUORUM_UNAVAILABLE");
  });

  it("tells those that have waited too long while there is time to ask another peer", () => {
    const { cluster, ask } = planted();
    cluster.peers.delete(2);
    cluster.peers.delete(3);
    for (let at = 0; at < 60; at += 1) ask("caller", `${at}`);
    cluster.pass(4_700);
    expect(inLine(cluster).length).toBeGreaterThan(0);
    const [late] = inLine(cluster);
    cluster.pass(100);
    expect(inLine(cluster)).toEqual([]);
    expect(codeOf(cluster, late ?? "")).toBe("REQUEST_CAPACITY");
    expect(codeOf(cluster, "0")).toBeUndefined();
  });

  it("takes in no more than its pace serves in time, and another caller's in place of the newest", () => {
    const { cluster, ask } = planted();
    cluster.peers.delete(2);
    cluster.peers.delete(3);
    for (let at = 0; at < 60; at += 1) ask("caller", `${at}`);
    expect(codeOf(cluster, "59")).toBeUndefined();
    cluster.pass(1_000);
    ask("caller", "late");
    expect(codeOf(cluster, "late")).toBe("REQUEST_CAPACITY");
    ask("other", "other");
    expect(codeOf(cluster, "other")).toBeUndefined();
    expect(codeOf(cluster, "59")).toBe("REQUEST_CAPACITY");
  });

  it("judges the key anew when a turn comes", () => {
    const { cluster, ask } = planted();
    cluster.peers.delete(2);
    cluster.peers.delete(3);
    for (let at = 0; at < 3; at += 1) ask("caller", `${at}`);
    const key = cluster.row(1, "custodyKeys", "payments");
    if (key === undefined) throw new Error("there is no key");
    cluster.write(1, [{ op: "replace", table: "custodyKeys", key: "payments", row: { ...key, status: "DESTROYED" } }]);
    cluster.pass(300);
    expect(codeOf(cluster, "2")).toBe("KEY_DESTROYED");
  });

  it("is empty at a peer that is sealed", () => {
    const { cluster, ask } = planted();
    cluster.tamper = () => undefined;
    for (let at = 0; at < 4; at += 1) ask("caller", `${at}`);
    cluster.dispatch(1, { _tag: "Sealed" });
    expect(signingIn(stateOf(cluster, 1))).toMatchObject({ waiting: new Map(), requests: new Map() });
    for (let at = 0; at < 4; at += 1) expect(codeOf(cluster, `${at}`)).toBe("SIGNING_QUORUM_UNAVAILABLE");
  });
});
