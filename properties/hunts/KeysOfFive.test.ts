/** A key of three of five real peers, one of which comes back from a backup that is older than the key's refresh. */
import { createPublicKey, verify as opensslVerify } from "node:crypto";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { allPermissions, type Answered, ServerCluster } from "../http/ServerCluster.ts";

const KEYS = "/v1/custody/keys";
const PERMISSIONS = [...allPermissions, "service.dkg.*", "service.recover", "service.key.*.*"];

let cluster: ServerCluster;
afterEach(() => cluster.close());

const found = async (total: number, threshold: number): Promise<void> => {
  cluster = await ServerCluster.start(total);
  for (const id of cluster.ids) await cluster.initialize(id, threshold);
  for (const id of cluster.ids) await cluster.unseal(id);
  for (const id of cluster.ids) await cluster.ready(id);
  cluster.token = await cluster.mint(PERMISSIONS);
};

const back = async (...ids: ReadonlyArray<number>): Promise<void> => {
  for (const id of ids) {
    await cluster.run(id);
    await cluster.unseal(id);
  }
  for (const each of cluster.ids) await cluster.ready(each);
};

const create = (id: number, keyId: string) =>
  cluster.post(id, KEYS, { keyId, algorithm: "ED25519", authorities: [{ id: "arbitrary" }] });

const message = Buffer.from("twelve ducats to the bearer");

const sign = (id: number) =>
  cluster.post(id, `${KEYS}/k1/sign`, {
    command: {
      type: "arbitrary",
      authorityId: "arbitrary",
      artifact: { scheme: "EdDSA", hash: "NONE", data64: message.toString("base64") },
    },
  });

const verifies = (spki64: unknown, { json }: Answered): boolean => {
  const key = createPublicKey({ key: Buffer.from(String(spki64), "base64"), format: "der", type: "spki" });
  return opensslVerify(null, message, key, Buffer.from(String(json["signature64"]), "base64"));
};

const healthAt = async (id: number): Promise<unknown> => (await cluster.get(id, `${KEYS}/k1`)).json["health"];

it("is signed with by three, and by the restored peer not before three others have repaired its share", async () => {
  await found(5, 3);
  expect((await create(4, "k1")).status).toBe(201);
  const { spki64 } = (await cluster.get(1, `${KEYS}/k1/public`)).json;

  const { dataDir } = cluster.member(2);
  const old = join(cluster.folder, "old-2");
  await cluster.stop(2);
  cpSync(dataDir, old, { recursive: true });
  await back(2);
  expect((await cluster.post(3, `${KEYS}/k1/refresh`, { baseGeneration: 1 })).json["currentGeneration"]).toBe(2);

  await cluster.stop(2);
  rmSync(dataDir, { recursive: true });
  cpSync(old, dataDir, { recursive: true });
  await cluster.run(2);
  await cluster.unseal(2);
  await cluster.post(2, "/v1/custody/system/restore", {});
  for (const id of cluster.ids) await cluster.ready(id);
  expect(await healthAt(2)).toBe("SHARE_MISSING");

  // Three others are enough, whoever is asked; two others and the restored one are not.
  await cluster.stop(4);
  for (const id of [1, 2, 3, 5]) expect(verifies(spki64, await sign(id))).toBe(true);
  await cluster.stop(5);
  const short = await sign(1);
  expect([short.status, short.json["code"]]).toEqual([503, "SIGNING_QUORUM_UNAVAILABLE"]);
  await back(4, 5);

  const repaired = await cluster.post(2, `${KEYS}/k1/repair`, { helpers: [1, 3, 5] });
  expect([repaired.status, repaired.json["generations"]]).toEqual([200, [2]]);
  expect(await healthAt(2)).toBe("OK");
  expect((await cluster.get(2, `${KEYS}/k1/public`)).json["spki64"]).toBe(spki64);
  await cluster.stop(4);
  await cluster.stop(5);
  for (const id of [1, 2, 3]) expect(verifies(spki64, await sign(id))).toBe(true);
});

it("cannot be repaired where every share is needed to make one", async () => {
  await found(2, 2);
  expect((await create(1, "k1")).status).toBe(201);
  const refused = await cluster.post(2, `${KEYS}/k1/repair`, { helpers: [1] });
  expect([refused.status, refused.json["code"]]).toEqual([409, "REPAIR_IMPOSSIBLE"]);
  expect(refused.json["detail"]).toContain("As many members sign as there are");
  expect(await healthAt(2)).toBe("OK");
});
