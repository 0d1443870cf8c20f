import { type ClientRequest, request } from "node:http";
import { afterEach, describe, expect, it, vi } from "vitest";
import { enrollingElsewhere } from "./Enrollment.ts";
import { registration, ServerCluster } from "./ServerCluster.ts";

const FINISH = "/v1/custody/approvers/webauthn/registration/finish";
const BODY_BYTES = 256 * 1024;

const clusters: Array<ServerCluster> = [];
const calls: Array<ClientRequest> = [];
afterEach(async () => {
  for (const call of calls.splice(0)) call.destroy();
  await Promise.all(clusters.splice(0).map((cluster) => cluster.close()));
});

/**
 * Finishes of enrollments, which any valid token may ask for: each declares a length and sends so much of it. Resolves
 * when the peer has seen the headers of all.
 */
const besiege = async (cluster: ServerCluster, token: string, count: number, sentBytes: number): Promise<void> => {
  const headers = {
    "x-jwt-token": token,
    "content-type": "application/json",
    "content-length": String(BODY_BYTES),
    expect: "100-continue",
  };
  const seen = Array.from({ length: count }, () => {
    const call = request(`${cluster.server(1).url}${FINISH}`, { method: "POST", headers, agent: false });
    calls.push(call);
    call.on("error", () => undefined).on("response", (response) => void response.resume());
    call.flushHeaders();
    return new Promise<void>((resolve) => {
      call.on("continue", () => {
        if (sentBytes > 0) call.write(Buffer.alloc(sentBytes, " "));
        resolve();
      });
    });
  });
  await Promise.all(seen);
};

const bodyBytes = async (cluster: ServerCluster): Promise<number> => {
  const text = await (await fetch(`${cluster.server(1).peerUrl}/metrics`)).text();
  return Number(/^custody_http_body_bytes (\d+)$/m.exec(text)?.[1]);
};

const found = async (limits: string): Promise<ServerCluster> => {
  const cluster = await ServerCluster.found(1, `${enrollingElsewhere()}\nlimits: {${limits}}`);
  clusters.push(cluster);
  return cluster;
};

describe("a caller without any permission who declares bodies and sends", () => {
  it("nothing of them, takes no room from anybody", async () => {
    const cluster = await found("connections-per-address: 1024");
    const token = await cluster.mint([], 3_600_000, Date.now(), "nobody");
    await besiege(cluster, token, 300, 0);
    const large = JSON.stringify(registration("large")).padEnd(BODY_BYTES, " ");
    expect((await cluster.post(1, "/v1/custody/approvers", large)).status).toBe(201);
    expect((await cluster.post(1, "/v1/custody/system/seal", {})).status).toBe(200);
  });

  it("most of them, takes no more than one subject's room, and none of the operators'", async () => {
    const cluster = await found(
      "body-bytes-in-flight: 20MiB, body-bytes-per-actor: 10MiB, body-bytes-per-address: 20MiB",
    );
    const token = await cluster.mint([], 3_600_000, Date.now(), "nobody");
    await besiege(cluster, token, 50, BODY_BYTES - 1);
    const most = 40 * (BODY_BYTES - 1);
    await vi.waitFor(async () => expect(await bodyBytes(cluster)).toBe(most), { timeout: 5_000 });
    const large = JSON.stringify(registration("large")).padEnd(BODY_BYTES, " ");
    expect((await cluster.post(1, "/v1/custody/approvers", large)).status).toBe(201);
    const refused = await cluster.post(1, FINISH, "{}".padEnd(1024, " "), { "x-jwt-token": token });
    expect([refused.status, refused.json["code"]]).toEqual([503, "BODY_CAPACITY"]);
    const other = await cluster.mint([], 3_600_000, Date.now(), "nobody else");
    await besiege(cluster, other, 50, BODY_BYTES - 1);
    await vi.waitFor(async () => expect(await bodyBytes(cluster)).toBe(2 * most), { timeout: 5_000 });
    const full = await cluster.post(1, "/v1/custody/approvers", large);
    expect([full.status, full.json["code"]]).toEqual([503, "BODY_CAPACITY"]);
    expect((await cluster.post(1, "/v1/custody/system/seal", {})).status).toBe(200);
    expect((await cluster.unseal(1)).status).toBe(200);
  });
});
