/** Three real peers from docs/config.minimal.yaml, of which nothing but ids and addresses is changed. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Scope } from "effect";
import { afterAll, expect, it, vi } from "vitest";
import { type RunningServer, startServer } from "../../server/peer/Server.ts";
import { agentFor, type Answered, call as httpCall } from "../chaos/HttpCall.ts";
import { openIssuer } from "../Issuer.ts";
import { issue } from "./Certificates.ts";
import { freePort } from "../drill/FreePorts.ts";
import { allPermissions, registration } from "./ServerCluster.ts";

const minimal = readFileSync(new URL("../../docs/config.minimal.yaml", import.meta.url), "utf8");
const IDS = [1, 2, 3];
const folder = mkdtempSync(join(tmpdir(), "custody-minimal-"));
const scope = Effect.runSync(Scope.make());
const authority = issue("Authority of tests", undefined);

afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Effect.runSync(Effect.exit(Effect.void))));
  rmSync(folder, { recursive: true, force: true });
});

interface Ports {
  readonly id: number;
  readonly http: number;
  readonly peer: number;
}

/** The file as peer `own` has it. */
const configOf = (own: Ports, all: ReadonlyArray<Ports>): string => {
  const others = all.filter(({ id }) => id !== own.id);
  const lines = others.map(({ id, peer }) => `    - {id: ${id}, url: "https://127.0.0.1:${peer}"}\n`);
  return minimal
    .replace(/(?: {4}- \{id: .*\n)+/, lines.join(""))
    .replace("  id: 1\n", `  id: ${own.id}\n`)
    .replaceAll("host: 10.0.0.1", "host: 127.0.0.1")
    .replace("port: 7300", `port: ${own.http}`)
    .replace("port: 7400", `port: ${own.peer}`);
};

/** A folder as an operator would fill it. */
const prepare = (own: Ports, all: ReadonlyArray<Ports>): string => {
  const home = join(folder, `peer-${own.id}`);
  mkdirSync(join(home, "tls"), { recursive: true, mode: 0o700 });
  mkdirSync(join(home, "data"), { mode: 0o700 });
  const put = (name: string, text: string) => writeFileSync(join(home, name), text, { mode: 0o600 });
  const { pem, key } = issue(`Peer ${own.id}`, authority);
  put("tls/peer.pem", pem);
  put("tls/peer.key", key.export({ type: "pkcs8", format: "pem" }).toString());
  put("tls/ca.pem", authority.pem);
  put("bootstrap.secret", "a-secret-of-this-test-alone-of-40-characters");
  put("config.yaml", configOf(own, all));
  copyFileSync(join(folder, "issuer", "jwks.json"), join(home, "jwks.json"));
  return join(home, "config.yaml");
};

const start = (configFile: string): Promise<RunningServer> => {
  const host = { writeLog: () => undefined, halt: () => undefined };
  return Effect.runPromise(Scope.extend(startServer({ configFile, devSecretsDir: undefined, env: {} }, host), scope));
};

const agent = agentFor(authority.pem, {});
const call = (server: RunningServer, token: string, path: string, body?: object): Promise<Answered> =>
  httpCall(agent, server.url, path, { token, body: body && Buffer.from(JSON.stringify(body)) });

it("is all that three peers need to found a cluster and register", async () => {
  const mint = await openIssuer(join(folder, "issuer"));
  const token = await mint(allPermissions);
  const ports: Array<Ports> = [];
  for (const id of IDS) ports.push({ id, http: await freePort(), peer: await freePort() });
  const servers: Array<RunningServer> = [];
  for (const own of ports) servers.push(await start(prepare(own, ports)));
  const system = "/v1/custody/system";
  for (const [index, server] of servers.entries()) {
    const init = await call(server, token, `${system}/init`, { peerId: index + 1, threshold: 2, total: 3 });
    expect(init.status).toBe(200);
    const { shares64: shares }: { readonly shares64: ReadonlyArray<string> } = JSON.parse(init.text);
    expect(shares).toHaveLength(5);
    for (const share64 of shares.slice(0, 3))
      expect((await call(server, token, `${system}/unseal`, { share64 })).status).toBe(200);
  }
  for (const server of servers)
    await vi.waitFor(async () => expect((await call(server, token, `${system}/ready`)).status).toBe(200), {
      timeout: 30_000,
      interval: 200,
    });
  const [, second] = servers;
  if (second === undefined) return expect.unreachable();
  const created = await call(second, token, "/v1/custody/approvers", registration("alice"));
  expect(created.status).toBe(201);
  const { ref }: { readonly ref: string } = JSON.parse(created.text);
  for (const server of servers)
    expect(await call(server, token, `/v1/custody/approvers/${encodeURIComponent(ref)}`)).toMatchObject({
      status: 200,
      text: created.text,
      etag: '"1"',
    });
}, 60_000);
