/** What a run reads from a stopped peer's database is held against every integrity key that the peer has had. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cryptoBackend } from "../../server/crypto/CryptoBackend.ts";
import { registration, ServerCluster } from "../http/ServerCluster.ts";
import { type FinalStore, readFinalStore } from "./FinalStore.ts";

let cluster: ServerCluster;

const finalStore = async (): Promise<FinalStore> => {
  const { dataDir, shares } = cluster.member(1);
  return readFinalStore(dataDir, cryptoBackend("native"), shares);
};

beforeAll(async () => {
  cluster = await ServerCluster.found(1);
  await cluster.register(1, registration("old"));
  for (const version of [2, 3]) {
    const rotated = await cluster.post(1, "/v1/custody/system/integrity/rotate", {});
    expect(rotated.json).toEqual({ integrityKeyVersion: version });
    await cluster.register(1, registration(`of-key-${version}`));
  }
  await cluster.stop(1);
});
afterAll(async () => {
  await cluster.close();
});

describe("the database of a stopped peer", () => {
  it("holds with rows of three integrity keys", async () => {
    const { fault, store, tables } = await finalStore();
    expect(fault).toBeUndefined();
    const versions = store.scan("audit", "", 32).map(({ row }) => row.integrityKeyVersion);
    expect([...new Set(versions)]).toEqual([1, 2, 3]);
    expect(tables.get("integrity")?.size).toBe(2);
  });

  it("does not hold once a row is another or gone, nor without one of the keys", async () => {
    const oneKey = "name = 'keys' AND key = (SELECT min(key) FROM records WHERE name = 'keys')";
    await cluster.tamper(1, `UPDATE records SET key = '0' || key WHERE ${oneKey}`);
    expect((await finalStore()).fault).toMatch(/^keys\/[0-9a-f]+: the seal does not hold$/);
    await cluster.tamper(1, `DELETE FROM records WHERE ${oneKey}`);
    expect((await finalStore()).fault).toMatch(/rows are missing/);
    const newest = "name = 'integrity' AND key = (SELECT max(key) FROM working WHERE name = 'integrity')";
    await cluster.tamper(1, `DELETE FROM working WHERE ${newest}`);
    expect((await finalStore()).fault).toMatch(/version 3 of the integrity key is not in the history$/);
  });
});
