/** A running peer's files are changed: what its callers and its operator are told. */
import { existsSync, rmSync } from "node:fs";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { databaseFile } from "../../server/sqlite/StoreDirectory.ts";
import { registration, ServerCluster } from "./ServerCluster.ts";

let cluster: ServerCluster;
beforeEach(async () => {
  cluster = await ServerCluster.found(1, "approvers: {answer-timeout: 1s}");
});
afterEach(() => cluster.close());

it("a record whose key was changed is found when it is read, and the peer signs nothing from then on", async () => {
  await cluster.stop(1);
  await cluster.run(1);
  await cluster.unseal(1);
  await cluster.ready(1);
  const ref = String((await cluster.register(1, registration("alice"))).json["ref"]);
  const other = `${ref.slice(0, -1)}${ref.endsWith("0") ? "1" : "0"}`;
  expect((await cluster.read(1, other)).status).toBe(404);
  await cluster.tamper(1, "UPDATE records SET key = ? WHERE name = 'approvers' AND key = ?", [other, ref]);
  expect(await cluster.read(1, ref)).toMatchObject({ status: 503, json: { code: "INTEGRITY_FAILURE" } });
  await cluster.unready(1);
  expect(await cluster.read(1, other)).toMatchObject({ status: 503, json: { code: "INTEGRITY_FAILURE" } });
});

it("a peer whose database is deleted stops by itself, and is not founded anew by mistake", async () => {
  await cluster.register(1, registration("alice"));
  const { dataDir } = cluster.member(1);
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${databaseFile(dataDir)}${suffix}`);
  expect((await cluster.register(1, registration("bob"))).status).not.toBe(201);
  await vi.waitFor(() => expect(cluster.halted).toEqual([1]), { timeout: 20_000 });
  expect(cluster.logs.find((line) => line.includes('"stopping"'))).toContain("do not initialize it anew");
  await cluster.stop(1);
  await expect(cluster.run(1)).rejects.toThrow("put back its newest backup");
  expect(existsSync(databaseFile(dataDir))).toBe(false);
});

it("a peer whose disk cannot be read stops by itself at the first read, instead of answering each with 500", async () => {
  const ref = String((await cluster.register(1, registration("alice"))).json["ref"]);
  expect([(await cluster.read(1, ref)).status, cluster.halted]).toEqual([200, []]);
  await cluster.tamper(1, "ALTER TABLE records RENAME TO lost");
  expect((await cluster.read(1, ref)).status).toBe(500);
  expect(cluster.halted).toEqual([1]);
  expect(cluster.logs.find((line) => line.includes('"stopping"'))).toContain(
    "check the disk and start this peer again",
  );
  await cluster.tamper(1, "ALTER TABLE lost RENAME TO records");
});
