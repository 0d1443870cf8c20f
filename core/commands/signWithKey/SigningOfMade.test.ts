import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { codeOf } from "../../../properties/cluster/Cluster.ts";
import { eddsa, KeyedCluster, keyActor } from "../../../properties/cluster/PlantedKeys.ts";
import { type KeyAct, keyPath, KEYS_PATH } from "../keys/KeyId.ts";
import { generationKey } from "../keys/Tables.ts";

const data = utf8ToBytes("pay 5");

const permissions = ["create", "rotate", "refresh"].map((each) => `service.dkg.${each}`);
const operator =
  keyActor._tag === "Verified"
    ? {
        ...keyActor,
        claims: {
          ...keyActor.claims,
          permissions: [...permissions, "service.key.*.sign", "service.key.*.destroy", "service.recover"],
        },
      }
    : keyActor;

/** A cluster whose members make keys as callers ask. */
const working = () => {
  const cluster = new KeyedCluster();
  cluster.judge = () => operator;
  const ask = (requestId: string, path: string, body: object): string | undefined => {
    const rawBody = utf8ToBytes(JSON.stringify(body));
    cluster.ask(2, requestId, { method: "POST", path, ifMatch: undefined, rawBody });
    cluster.pass(5_000);
    return codeOf(cluster, requestId);
  };
  const does = (act: KeyAct, body: object) => ask(act, keyPath("payments", act), body);
  const create = () =>
    ask("create", KEYS_PATH, { keyId: "payments", algorithm: "ED25519", authorities: [{ id: "arbitrary" }] });
  const publicKey = (generation: number): string =>
    cluster.row(1, "generations", generationKey("payments", generation))?.publicKey ?? "";
  const isSigned = (through: number, requestId: string, generation: number): boolean => {
    cluster.sign(through, requestId, "payments", data);
    cluster.pass(1_000);
    return eddsa.verify(publicKey(generation), data, cluster.signatureOf(requestId) ?? "");
  };
  return { cluster, create, does, publicKey, isSigned };
};

describe("a key that all members have made", () => {
  it("signs with any two of three, and under its new generation once there is one", () => {
    const { cluster, create, does, publicKey, isSigned } = working();
    expect(create()).toBe("KeyMade");
    for (const gone of [1, 2, 3]) {
      const [through = 0] = [1, 2, 3].filter((each) => each !== gone);
      const driver = cluster.peers.get(gone);
      cluster.peers.delete(gone);
      expect(isSigned(through, `without ${gone}`, 1)).toBe(true);
      if (driver !== undefined) cluster.peers.set(gone, driver);
    }
    expect(does("refresh", { baseGeneration: 1 })).toBe("KeyMade");
    expect(publicKey(2)).toBe(publicKey(1));
    expect(isSigned(3, "refreshed", 2)).toBe(true);
    expect(does("rotate", { baseGeneration: 2 })).toBe("KeyMade");
    expect(publicKey(3)).not.toBe(publicKey(1));
    expect(isSigned(3, "rotated", 3)).toBe(true);
  });

  it("has its lost shares made again, of all generations that are kept, and signs no more once destroyed", () => {
    const { cluster, create, does, isSigned } = working();
    create();
    does("refresh", { baseGeneration: 1 });
    does("rotate", { baseGeneration: 2 });
    cluster.write(
      3,
      [2, 3].map((each) => ({ op: "remove", table: "shares", key: generationKey("payments", each) })),
    );
    cluster.repair(3, "repair", "payments", [1, 2]);
    cluster.settle();
    expect(cluster.answers.get("repair")).toEqual({ _tag: "Repaired", generations: [2, 3] });
    cluster.peers.delete(1);
    expect(isSigned(3, "repaired", 3)).toBe(true);
    cluster.start(1);
    cluster.pass(3_000);
    expect(does("destroy", { baseGeneration: 3, generation: 3, final: true })).toBe("KeyDestroyed");
    expect(isSigned(3, "destroyed", 3)).toBe(false);
    expect(codeOf(cluster, "destroyed")).toBe("KEY_DESTROYED");
    cluster.repair(3, "again", "payments", [1, 2]);
    expect(codeOf(cluster, "again")).toBe("KEY_DESTROYED");
  });
});
