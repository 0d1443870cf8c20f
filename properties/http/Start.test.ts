/** How a peer starts for the first time, and what it leaves behind when it cannot. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { ServerCluster } from "./ServerCluster.ts";

const opened: Array<ServerCluster> = [];
const start = async (total: number): Promise<ServerCluster> => {
  const cluster = await ServerCluster.start(total);
  opened.push(cluster);
  return cluster;
};
afterEach(async () => {
  await Promise.all(opened.splice(0).map((cluster) => cluster.close()));
});

it("leaves nothing behind where a first start fails", async () => {
  const cluster = await start(2);
  await cluster.stop(1);
  const { dataDir } = cluster.member(1);
  expect(readdirSync(dataDir)).toContain("custody.db");
  // Another folder, and the port of the peer that runs.
  const taken = { CUSTODY_HTTP_PORT: new URL(cluster.server(2).url).port };
  const fresh = join(dirname(dataDir), "fresh");
  await expect(cluster.run(1, { ...taken, CUSTODY_PEER_DATA_DIR: fresh })).rejects.toThrow("is in use");
  expect(existsSync(fresh)).toBe(false);
  // Files that were there before stay.
  await expect(cluster.run(1, taken)).rejects.toThrow("is in use");
  expect(readdirSync(dataDir)).toContain("custody.db");
});

it("leaves the folder alone that another start has taken meanwhile", async () => {
  const cluster = await start(2);
  await cluster.stop(1);
  await cluster.stop(2);
  const fresh = join(cluster.folder, "fresh");
  const run = (id: number) => cluster.run(id, { CUSTODY_PEER_DATA_DIR: fresh });
  // Peer 1 has looked at the folder when it asks for its token keys, and gets them when peer 2 runs there.
  const issuer = createServer((_request, response) => {
    void run(2).then(() => response.end(readFileSync(join(cluster.folder, "issuer", "jwks.json"))));
  });
  await new Promise<void>((resolve) => void issuer.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = Object(issuer.address());
    const { configFile } = cluster.member(1);
    const config = readFileSync(configFile, "utf8");
    writeFileSync(configFile, config.replace(/jwks: \{[^}]*\}/, `jwks: {url: "http://127.0.0.1:${port}/jwks.json"}`));
    await expect(run(1)).rejects.toThrow("is in use by another process");
  } finally {
    issuer.close();
  }
  expect(readdirSync(fresh)).toEqual(expect.arrayContaining(["custody.db", "custody.db-wal", "custody.lock"]));
  expect((await cluster.initialize(2)).status).toBe(200);
  expect(cluster.halted).toEqual([]);
});

it("makes files that nobody else may read", async () => {
  const cluster = await start(1);
  await cluster.initialize(1);
  const { dataDir } = cluster.member(1);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(dataDir))
    expect([name, statSync(join(dataDir, name)).mode & 0o777]).toEqual([name, 0o600]);
});

it("takes no number but the one its configuration gives it", async () => {
  const cluster = await start(1);
  await cluster.stop(1);
  await cluster.run(1, { CUSTODY_PEER_ID: "1" });
  const refused = await cluster.post(1, "/v1/custody/system/init", { peerId: 7, threshold: 1, total: 1 });
  expect(refused).toMatchObject({
    status: 400,
    json: { errors: [{ pointer: "/peerId", code: "mismatch", detail: expect.stringContaining("this is peer 1") }] },
  });
  expect((await cluster.initialize(1)).status).toBe(200);
});

it("says whether it is alive, can be read and can be changed, each by a probe of its own", async () => {
  const cluster = await start(1);
  const probes = async () => {
    const answers = await Promise.all(
      ["health", "readable", "ready"].map((name) => cluster.get(1, `/v1/custody/system/${name}`)),
    );
    return answers.map(({ status, json }) => (status === 200 ? 200 : json["code"]));
  };
  expect(await probes()).toEqual([200, "NOT_INITIALIZED", "NOT_READY"]);
  await cluster.initialize(1);
  expect(await probes()).toEqual([200, "SEALED", "NOT_READY"]);
  await cluster.unseal(1);
  await cluster.ready(1);
  expect(await probes()).toEqual([200, 200, 200]);
});
