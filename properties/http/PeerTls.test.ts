import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { registration, ServerCluster } from "./ServerCluster.ts";

/** Makes certificates; nothing here is about this program's own cryptography. */
const certificateTool = "openssl";

const folder = mkdtempSync(join(tmpdir(), "custody-tls-"));
const cert = join(folder, "peer.pem");
const key = join(folder, "peer.key");
const made =
  spawnSync(certificateTool, [
    ..."req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=peer".split(" "),
    "-addext",
    "subjectAltName=IP:127.0.0.1",
    "-keyout",
    key,
    "-out",
    cert,
  ]).status === 0;

describe.skipIf(!made)("peers that speak TLS to each other (skipped without openssl)", () => {
  let cluster: ServerCluster;
  beforeAll(async () => {
    cluster = await ServerCluster.found(2, `tls: {cert: ${cert}, key: ${key}, ca: ${cert}}`);
  });
  afterAll(async () => {
    await cluster.close();
    rmSync(folder, { recursive: true });
  });

  it("found a cluster and register", async () => {
    expect(cluster.server(1).peerUrl).toMatch(/^https:/);
    const created = await cluster.register(2, registration("alice"));
    expect(created.status).toBe(201);
    expect((await cluster.read(1, String(created.json["ref"]))).text).toBe(created.text);
  });

  it("turn away a caller without a certificate", async () => {
    const refused = new Promise((resolve, reject) => {
      const call = request(`${cluster.server(1).peerUrl}/metrics`, { rejectUnauthorized: false }, resolve);
      call.on("error", reject);
      call.end();
    });
    await expect(refused).rejects.toThrow();
  });
});
