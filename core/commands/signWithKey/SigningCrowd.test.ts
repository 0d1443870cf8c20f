import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { codeOf, rowsOf } from "../../../properties/cluster/Cluster.ts";
import { eddsa, KeyedCluster, keyActor } from "../../../properties/cluster/PlantedKeys.ts";
import { stateOf } from "../../../properties/cluster/Restoring.ts";
import { CAPACITIES } from "../../base/Capacities.ts";
import { Limits } from "../../base/Limits.ts";
import { generationKey } from "../keys/Tables.ts";
import { signingIn } from "./SigningState.ts";

const data = utf8ToBytes("pay 5");

const planted = (total = 3) => {
  const cluster = new KeyedCluster(total);
  const { generation } = cluster.plantKey("payments");
  const isGood = (requestId: string): boolean =>
    eddsa.verify(generation.publicKey, data, cluster.signatureOf(requestId) ?? "");
  return { cluster, isGood };
};

describe("many signatures at once", () => {
  it("share the flushes of all members, and no step of one of them signs more than eight", () => {
    const { cluster, isGood } = planted();
    const signed: Array<number> = [];
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "Sign.Package") signed.push(message.items.length);
      return message;
    };
    const { length } = cluster.committed;
    for (let at = 0; at < 16; at += 1) cluster.sign(1, `${at}`, "payments", data);
    cluster.settle();
    for (let at = 0; at < 16; at += 1) expect(isGood(`${at}`)).toBe(true);
    expect(cluster.committed.length - length).toBeLessThan(8);
    expect(Math.max(...signed)).toBe(8);
    expect(rowsOf(cluster, "consents").reduce((sum, each) => sum + each, 0)).toBe(32);
  });

  it("are so many and no more at one coordinator, waiting and under way", () => {
    const { cluster } = planted();
    cluster.write(1, [{ op: "remove", table: "shares", key: generationKey("payments", 1) }]);
    cluster.peers.delete(2);
    cluster.peers.delete(3);
    const held = () => {
      const { requests, waiting } = signingIn(stateOf(cluster, 1));
      return requests.size + waiting.size;
    };
    for (let at = 0; at < Limits.signingRequests; at += 1) cluster.sign(1, `${at}`, "payments", data);
    expect(held()).toBe(Limits.signingRequests);
    cluster.sign(1, `${Limits.signingRequests}`, "payments", data);
    expect(codeOf(cluster, `${Limits.signingRequests}`)).toBe("REQUEST_CAPACITY");
    expect(held()).toBe(Limits.signingRequests);
    cluster.pass(10_000);
    expect(held()).toBe(0);
    expect(signingIn(stateOf(cluster, 1)).bySession.size).toBe(0);
    for (const each of ["0", "20", "100"]) expect(codeOf(cluster, each)).toBe("SIGNING_QUORUM_UNAVAILABLE");
  });

  it.each([
    [CAPACITIES.signaturesAtOnce, 0],
    [CAPACITIES.signaturesAtOnce + 1, 1],
  ])("of %i requests %i wait until another is done", (count, waiting) => {
    const { cluster, isGood } = planted();
    for (let at = 0; at < count; at += 1) cluster.sign(1, `${at}`, "payments", data);
    expect(signingIn(stateOf(cluster, 1)).waiting.size).toBe(waiting);
    cluster.settle();
    for (let at = 0; at < count; at += 1) expect(isGood(`${at}`)).toBe(true);
    expect(signingIn(stateOf(cluster, 1))).toMatchObject({ waiting: new Map(), requests: new Map() });
  });
});

describe("callers of one coordinator", () => {
  it("share its places: the newest of whoever has most goes for one of another", () => {
    const { cluster } = planted();
    cluster.write(1, [{ op: "remove", table: "shares", key: generationKey("payments", 1) }]);
    cluster.tamper = () => undefined;
    for (let at = 0; at < Limits.signingRequests; at += 1) cluster.sign(1, `${at}`, "payments", data);
    if (keyActor._tag !== "Verified") throw new Error("the actor is not verified");
    const other = { ...keyActor, claims: { ...keyActor.claims, sub: "another" } };
    cluster.judge = () => other;
    cluster.sign(1, "another", "payments", data);
    expect(codeOf(cluster, "another")).toBeUndefined();
    expect(codeOf(cluster, `${Limits.signingRequests - 1}`)).toBe("REQUEST_CAPACITY");
    expect(codeOf(cluster, "0")).toBeUndefined();
  });

  it("do not wait for those whose members say nothing, however long these have held all places", () => {
    const { cluster } = planted();
    cluster.plantKey("others");
    cluster.write(2, [{ op: "remove", table: "shares", key: generationKey("payments", 1) }]);
    cluster.peers.delete(3);
    let at = 0;
    const fill = (millis: number): void => {
      do {
        cluster.sign(1, `${(at += 1)}`, "payments", data);
        cluster.pass(millis);
      } while (codeOf(cluster, `${at}`) !== "REQUEST_CAPACITY");
    };
    fill(20);
    // Those that take the places of the few that are answered meanwhile are under way at once.
    for (let round = 0; round < 8 && signingIn(stateOf(cluster, 1)).waiting.size > 0; round += 1) {
      cluster.pass(260);
      fill(0);
    }
    expect(signingIn(stateOf(cluster, 1)).waiting.size).toBe(0);
    if (keyActor._tag !== "Verified") throw new Error("the actor is not verified");
    const other = { ...keyActor, claims: { ...keyActor.claims, sub: "another" } };
    cluster.judge = () => other;
    cluster.sign(1, "another", "others", data);
    cluster.pass(1_000);
    expect(codeOf(cluster, "another")).toBe("Signed");
  });
});

describe("a key that cannot be signed with", () => {
  it("takes nothing from another one: of an attempt that is over no nonce stays", () => {
    const { cluster } = planted(2);
    cluster.plantKey("others");
    cluster.write(2, [{ op: "remove", table: "shares", key: generationKey("payments", 1) }]);
    const most = Limits.signingSessionsOfCoordinator / 2;
    for (let at = 0; at < most; at += 4) {
      for (let each = at; each < at + 4; each += 1) cluster.sign(1, `${each}`, "payments", data);
      cluster.pass(250);
    }
    cluster.pass(3_000);
    expect(codeOf(cluster, `${most - 1}`)).toBe("SIGNING_QUORUM_UNAVAILABLE");
    expect(signingIn(stateOf(cluster, 1))).toMatchObject({ requests: new Map(), sessions: new Map() });
    cluster.sign(1, "other", "others", data);
    cluster.settle();
    expect(codeOf(cluster, "other")).toBe("Signed");
  });

  it("takes nothing from another one at the members that would sign: the oldest of its sessions give way", () => {
    const { cluster } = planted();
    cluster.plantKey("others");
    cluster.write(1, [{ op: "remove", table: "shares", key: generationKey("payments", 1) }]);
    const keys = ["payments", "others"].map((keyId) => generationKey(keyId, 1));
    cluster.write(
      3,
      keys.map((key) => ({ op: "remove", table: "shares", key })),
    );
    for (let at = 0; at < Limits.signingSessionsOfCoordinator / 2; at += 4) {
      for (let each = at; each < at + 4; each += 1) cluster.sign(1, `${each}`, "payments", data);
      cluster.pass(250);
    }
    const { sessions } = signingIn(stateOf(cluster, 2));
    expect(sessions.size).toBe(Limits.signingSessionsOfCoordinator);
    cluster.sign(1, "other", "others", data);
    cluster.pass(500);
    expect(codeOf(cluster, "other")).toBe("Signed");
  });

  it("is not asked for at members any more once the token of its caller is over", () => {
    const { cluster } = planted();
    const opened = new Set<string>();
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "Sign.Open") opened.add(message.sessionId);
      return undefined;
    };
    if (keyActor._tag !== "Verified") throw new Error("the actor is not verified");
    const shortly = { ...keyActor, claims: { ...keyActor.claims, expiresAt: cluster.now + 100 } };
    cluster.judge = () => shortly;
    for (let at = 0; at <= CAPACITIES.signaturesAtOnce; at += 1) cluster.sign(1, `${at}`, "payments", data);
    cluster.pass(1_000);
    expect(codeOf(cluster, `${CAPACITIES.signaturesAtOnce}`)).toBe("UNAUTHENTICATED");
    expect(opened.size).toBe(CAPACITIES.signaturesAtOnce);
  });
});
