/** What operators can do at a peer whose issuer cannot be asked for its keys. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { freePort } from "../drill/FreePorts.ts";
import { type Answered, registration, ServerCluster } from "./ServerCluster.ts";

const SYSTEM = "/v1/custody/system";
const NO_KEYS = {
  code: "TOKEN_KEYS_UNAVAILABLE",
  detail: "The keys that verify tokens cannot be had at the moment.",
};

let cluster: ServerCluster;
let port: number;
let issuer: Server | undefined;

const comeBack = async (): Promise<void> => {
  const server = createServer((_request, response) => {
    response.end(readFileSync(join(cluster.folder, "issuer", "jwks.json")));
  });
  issuer = server;
  await new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", resolve));
};
const goAway = async (): Promise<void> => {
  const server = issuer;
  issuer = undefined;
  server?.closeAllConnections();
  if (server !== undefined) await new Promise((resolve) => server.close(resolve));
};
const startAgain = async (): Promise<void> => {
  await cluster.stop(1);
  await cluster.run(1);
};

const statusOf = () => cluster.get(1, `${SYSTEM}/status`);
const seal = () => cluster.post(1, `${SYSTEM}/seal`, {});
const shown = ({ status, json }: Answered) => [status, json["code"] ?? json["state"]];

beforeEach(async () => {
  cluster = await ServerCluster.found(1);
  port = await freePort();
  const { configFile } = cluster.member(1);
  const config = readFileSync(configFile, "utf8");
  writeFileSync(configFile, config.replace(/jwks: \{[^}]*\}/, `jwks: {url: "http://127.0.0.1:${port}/jwks.json"}`));
  await comeBack();
  await startAgain();
  expect(shown(await cluster.unseal(1))).toEqual([200, "UNSEALED"]);
});
afterEach(async () => {
  await cluster.close();
  await goAway();
});

it("they look at it, seal and unseal it by the keys it has, and by those it kept after a start", async () => {
  await goAway();
  for (const isStarted of [false, true]) {
    if (isStarted) await startAgain();
    expect(shown(await seal())).toEqual([200, "SEALED"]);
    expect(shown(await statusOf())).toEqual([200, "SEALED"]);
    expect(shown(await cluster.unseal(1))).toEqual([200, "UNSEALED"]);
    expect((await statusOf()).json).toMatchObject({ state: "UNSEALED", detail: { peerId: 1 } });
  }
});

it("they are told, where it has no keys at all, that these are missing, and it goes on once they are there", async () => {
  await goAway();
  rmSync(join(cluster.member(1).dataDir, "token-keys.json"));
  await startAgain();
  expect((await statusOf()).json).toEqual({ state: "SEALED", detailMissing: NO_KEYS });
  for (const answered of [await cluster.unseal(1), await seal()]) {
    expect(shown(answered)).toEqual([503, NO_KEYS.code]);
    expect(answered.json).toMatchObject({ retryable: true, detail: NO_KEYS.detail });
    expect(Number(answered.headers.get("retry-after"))).toBeGreaterThanOrEqual(5);
  }
  const change = await cluster.register(1, registration("alice"));
  expect(shown(change)).toEqual([503, "APPROVER_REPLICATION_UNAVAILABLE"]);
  expect(change.json["members"]).toEqual([{ peerId: 1, reason: expect.stringMatching(/^it cannot verify tokens/) }]);
  await comeBack();
  await vi.waitFor(async () => expect((await statusOf()).json).toMatchObject({ detail: { peerId: 1 } }), {
    timeout: 40_000,
    interval: 200,
  });
  expect(shown(await cluster.unseal(1))).toEqual([200, "UNSEALED"]);
}, 60_000);
