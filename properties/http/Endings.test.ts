import { request } from "node:http";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { registration, ServerCluster } from "./ServerCluster.ts";

const opened: Array<ServerCluster> = [];
const track = (cluster: ServerCluster): ServerCluster => {
  opened.push(cluster);
  return cluster;
};
afterEach(async () => {
  await Promise.all(opened.splice(0).map((cluster) => cluster.close()));
});

/** A registration of whose body only the first byte is sent until `finish` is called. */
const slowRegistration = (cluster: ServerCluster, id: string) => {
  const body = JSON.stringify(registration(id));
  const headers = {
    "x-jwt-token": cluster.token,
    "content-type": "application/json",
    "content-length": String(body.length),
  };
  const call = request(`${cluster.server(1).url}/v1/custody/approvers`, { method: "POST", headers });
  call.write(body.slice(0, 1));
  const answered = new Promise<{ readonly status: number; readonly connection: string | undefined }>(
    (resolve, reject) => {
      call.on("error", reject);
      call.on("response", (response) => {
        response.resume();
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, connection: response.headers.connection }),
        );
      });
    },
  );
  return { answered, finish: () => void call.end(body.slice(1)) };
};

describe("closing a peer", () => {
  it("answers what is under way, and accepts nothing more", async () => {
    const cluster = track(await ServerCluster.found(1));
    const { url } = cluster.server(1);
    const { answered, finish } = slowRegistration(cluster, "under-way");
    await vi.waitFor(async () => {
      const metrics = await (await fetch(`${cluster.server(1).peerUrl}/metrics`)).text();
      expect(metrics).toMatch(/^custody_http_body_bytes [1-9]/m);
    });
    const stopping = cluster.stop(1);
    await vi.waitFor(() => expect(fetch(`${url}/v1/custody/system/health`)).rejects.toThrow());
    finish();
    expect(await answered).toEqual({ status: 201, connection: "close" });
    await stopping;
    expect(cluster.logs.join("")).toMatch(/"event":"draining"[\s\S]*"event":"stopped"/);
    await cluster.run(1);
    await cluster.unseal(1);
    expect((await cluster.register(1, registration("afterwards"))).status).toBe(201);
  });
});

describe("request bodies held at once", () => {
  it("are bounded, and the bound is free again after an answer", async () => {
    const cluster = track(
      await ServerCluster.found(
        1,
        "limits: {body-bytes-in-flight: 10MiB, body-bytes-per-actor: 10MiB, body-bytes-per-address: 10MiB}",
      ),
    );
    const small = slowRegistration(cluster, "holds-some-bytes");
    await vi.waitFor(async () => {
      const metrics = await (await fetch(`${cluster.server(1).peerUrl}/metrics`)).text();
      expect(metrics).toMatch(/^custody_http_body_bytes [1-9]/m);
    });
    const large = "{}".padEnd(10 * 1024 * 1024, " ");
    const refused = await cluster.register(1, JSON.parse("{}"));
    expect(refused.status).toBe(400);
    const token = await cluster.mint(["service.key.k1.sign"]);
    const sent = () => cluster.post(1, "/v1/custody/keys/k1/sign", large, { "x-jwt-token": token });
    const full = await sent();
    expect([full.status, full.json["code"]]).toEqual([503, "BODY_CAPACITY"]);
    expect(full.headers.get("retry-after")).toMatch(/^[123]$/);
    small.finish();
    expect((await small.answered).status).toBe(201);
    expect((await sent()).status).toBe(400);
  });
});

describe("a development cluster", () => {
  it("unseals itself from its folder, and starts in no other way", async () => {
    const cluster = track(await ServerCluster.start(1));
    await cluster.stop(1);
    const secrets = join(cluster.folder, "dev-secrets");
    mkdirSync(secrets, { mode: 0o700 });
    writeFileSync(join(secrets, "bootstrap"), `${"b".repeat(40)}\n`, { mode: 0o600 });
    await expect(cluster.run(1, { CUSTODY_DEVELOPMENT: "true" })).rejects.toThrow(/only custody dev/);
    await expect(cluster.run(1, {}, secrets)).rejects.toThrow(/for development clusters only/);
    await cluster.run(1, { CUSTODY_DEVELOPMENT: "true" }, secrets);
    await cluster.initialize(1);
    await cluster.unseal(1);
    const created = await cluster.register(1, registration("alice"));
    const shares = JSON.stringify({ peerId: 1, shares: cluster.member(1).shares });
    writeFileSync(join(secrets, "peer-1.shares.json"), shares, { mode: 0o600 });
    await cluster.stop(1);
    await cluster.run(1, { CUSTODY_DEVELOPMENT: "true" }, secrets);
    expect((await cluster.read(1, String(created.json["ref"]))).text).toBe(created.text);
    await cluster.stop(1);
    await expect(cluster.run(1)).rejects.toThrow(/belongs to a development cluster/);
    writeFileSync(join(secrets, "peer-1.shares.json"), '{"shares":["secret"]}', { mode: 0o600 });
    await expect(cluster.run(1, { CUSTODY_DEVELOPMENT: "true" }, secrets)).rejects.toThrow(/holds no unseal shares/);
  });
});

describe("a peer whose disk fails", () => {
  it("stops at once with one line of log, and leaves the outcome open", async () => {
    const cluster = track(await ServerCluster.found(1, "approvers: {answer-timeout: 1s}"));
    await cluster.tamper(1, "CREATE TRIGGER full BEFORE INSERT ON records BEGIN SELECT RAISE(FAIL, 'full'); END");
    const open = await cluster.register(1, registration("unknown"));
    expect(open.json).toMatchObject({
      status: 503,
      code: "APPROVER_REPLICATION_UNAVAILABLE",
      retryable: true,
      outcomeUnknown: true,
      ref: expect.stringMatching(/^unknown@sha256:/),
    });
    expect(cluster.halted).toEqual([1]);
    const lines = cluster.logs.filter((line) => line.includes('"event":"stopping"'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/the database could not be written.*the outcome is unknown/);
  });
});

describe("a peer that cannot start", () => {
  it("says why: the port is taken, the folder is in use", async () => {
    const cluster = track(await ServerCluster.start(1));
    const { port } = new URL(cluster.server(1).url);
    const { configFile } = cluster.member(1);
    const other = track(await ServerCluster.start(1));
    await other.stop(1);
    await expect(other.run(1, { CUSTODY_HTTP_PORT: port })).rejects.toThrow(/http\.port: is in use/);
    await expect(other.run(1, { CUSTODY_PEER_DATA_DIR: join(configFile, "..", "data") })).rejects.toThrow(/in use/);
  });
});
