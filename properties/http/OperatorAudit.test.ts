import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { Effect, Either } from "effect";
import { afterEach, describe, expect, it } from "vitest";
import { rowCodec, type Rows } from "../../core/Tables.ts";
import { protocolTables } from "../../core/protocol/Tables.ts";
import { decode } from "../../core/codec/CborReader.ts";
import { operatorFile } from "../../server/peer/OperatorFile.ts";
import { openSqliteByteStore } from "../../server/sqlite/SqliteByteStore.ts";
import { cryptoBackend } from "../../server/crypto/CryptoBackend.ts";
import { allPermissions, ServerCluster } from "./ServerCluster.ts";

const opened: Array<ServerCluster> = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((cluster) => cluster.close()));
});
const track = (cluster: ServerCluster): ServerCluster => {
  opened.push(cluster);
  return cluster;
};

/** The audit of a peer that does not run, in order. */
const auditOf = (cluster: ServerCluster, id: number): Promise<ReadonlyArray<Rows["audit"]>> =>
  Effect.gen(function* () {
    const bytes = yield* openSqliteByteStore({ directory: cluster.member(id).dataDir, flushDelayMillis: 0 });
    const rows = bytes
      .scan("audit", "", 1_000)
      .map(({ value }) => Either.getOrThrow(decode(rowCodec("audit"), value.row)));
    yield* bytes.close;
    return rows;
  }).pipe(Effect.runPromise);

const lines = (rows: ReadonlyArray<Rows["audit"]>) =>
  rows.map(
    ({ event, outcome, actor, times }) => `${event} ${outcome} ${actor?.sub ?? "-"}${times > 1 ? ` x${times}` : ""}`,
  );

const path = "/v1/custody/system";

describe("the audit", () => {
  it("tells who did what to a peer, sealed or not, over restarts, each once and in order", async () => {
    const cluster = track(await ServerCluster.start(1));
    const stranger = await cluster.mint(["service.approvers.read"], 3_600_000, Date.now(), "mallory");
    const as = (token: string) => ({ "x-jwt-token": token });
    expect((await cluster.post(1, `${path}/init`, {}, as(stranger))).status).toBe(403);
    expect((await cluster.post(1, `${path}/init`, {}, as("x"))).status).toBe(401);
    for (let times = 0; times < 3; times++) await cluster.initialize(1);
    const { shares } = cluster.member(1);
    expect((await cluster.post(1, `${path}/unseal`, { share64: "AA==" })).status).toBe(400);
    await cluster.post(1, `${path}/unseal`, { share64: shares[0] }, { "x-request-id": "first-share" });
    // Everything so far was answered, and so it survives the process.
    await cluster.stop(1);
    await cluster.run(1);
    await cluster.unseal(1);
    expect((await cluster.post(1, `${path}/init`, { peerId: 1, threshold: 1, total: 1 })).status).toBe(409);
    for (let times = 0; times < 20; times++) await cluster.post(1, `${path}/seal`, {}, as(stranger));
    await cluster.post(1, `${path}/integrity/rotate`, {});
    await cluster.post(1, `${path}/restore`, {});
    await cluster.post(1, `${path}/seal`, {});
    await cluster.post(1, `${path}/seal`, "{", {});
    await cluster.stop(1);
    await cluster.run(1);
    await cluster.unseal(1);
    await cluster.stop(1);
    const rows = await auditOf(cluster, 1);
    expect(lines(rows)).toEqual([
      "INITIALIZE ACCESS_DENIED mallory",
      ...[1, 2, 3].flatMap(() => ["INITIALIZE ASKED operator", "INITIALIZE APPLIED operator"]),
      "UNSEAL INVALID_SHARE operator",
      "UNSEAL ACCEPTED operator",
      "UNSEAL ACCEPTED operator",
      "UNSEAL APPLIED operator",
      "CLUSTER_FOUNDED APPLIED -",
      "INITIALIZE ASKED operator",
      "INITIALIZE ALREADY_INITIALIZED operator",
      "SEAL ACCESS_DENIED mallory",
      "ROTATE_INTEGRITY_KEY APPLIED operator",
      "RESTORE RESTORE_IMPOSSIBLE operator",
      "SEAL APPLIED operator",
      "SEAL INVALID_REQUEST_BODY operator",
      "SEAL ACCESS_DENIED mallory x19",
      "UNSEAL ACCEPTED operator",
      "UNSEAL APPLIED operator",
    ]);
    const first = rows.find(({ requestId }) => requestId === "first-share");
    expect(first).toMatchObject({
      detail: "1 of 2 shares are in",
      request: { method: "POST", path: `${path}/unseal`, bodyDigest: undefined },
    });
    expect(first?.actor?.jti).toEqual(expect.any(String));
    const { crypto } = cryptoBackend("native");
    for (const [index, row] of rows.entries()) {
      const before = rows[index - 1];
      if (before !== undefined)
        expect(row.prevHash).toBe(crypto.digest("CUSTODY_AUDIT_V1", protocolTables.audit, before));
    }
    // The structured log has a line for each as well, and neither it nor the journal a share.
    const log = cluster.logs.join("");
    for (const text of [log, readFileSync(`${cluster.member(1).dataDir}/operators.log`, "latin1")])
      for (const share of shares) {
        expect(text).not.toContain(share);
        expect(text).not.toContain(Buffer.from(share, "base64").toString("hex"));
      }
    const told = log.split("\n").filter((line) => line.includes('"event":"operator"'));
    expect(told).toHaveLength(rows.length - 1 + 1);
    expect(told.filter((line) => line.includes("UNAUTHENTICATED"))).toHaveLength(1);
  });

  it("tells who had shares of a key repaired, or tried to", async () => {
    const cluster = track(await ServerCluster.found(3));
    cluster.token = await cluster.mint([...allPermissions, "service.dkg.create", "service.recover"]);
    const key = { keyId: "k1", algorithm: "ED25519", authorities: [{ id: "arbitrary" }] };
    expect((await cluster.post(1, "/v1/custody/keys", key)).status).toBe(201);
    const repair = "/v1/custody/keys/k1/repair";
    const helpers = { helpers: [1, 3] };
    const stranger = { "x-jwt-token": await cluster.mint(["service.key.*.*"], 3_600_000, Date.now(), "mallory") };
    for (let times = 0; times < 20; times++)
      expect((await cluster.post(2, repair, helpers, stranger)).status).toBe(403);
    expect((await cluster.post(2, repair, { helpers: [1] })).status).toBe(400);
    expect((await cluster.post(2, "/v1/custody/keys/none/repair", helpers)).status).toBe(404);
    expect((await cluster.post(2, `/v1/custody/keys/${"n".repeat(4_000)}/repair`, helpers)).status).toBe(404);
    const repaired = await cluster.post(2, repair, helpers, { "x-request-id": "whole" });
    expect([repaired.status, repaired.json]).toEqual([200, { generations: [1] }]);
    await cluster.post(2, `${path}/seal`, {});
    expect((await cluster.post(2, repair, helpers)).json["code"]).toBe("KEY_REPLICATION_UNAVAILABLE");
    await cluster.unseal(2);
    await cluster.stop(2);
    const rows = (await auditOf(cluster, 2)).filter(({ event }) => event === "REPAIR");
    expect(lines(rows)).toEqual([
      "REPAIR ACCESS_DENIED mallory",
      "REPAIR INVALID_REQUEST_BODY operator",
      "REPAIR KEY_NOT_FOUND operator",
      "REPAIR KEY_NOT_FOUND operator",
      "REPAIR APPLIED operator",
      "REPAIR KEY_REPLICATION_UNAVAILABLE operator",
      "REPAIR ACCESS_DENIED mallory x19",
    ]);
    const bodyDigest = createHash("sha256").update(JSON.stringify(helpers)).digest("hex");
    expect(rows.find(({ requestId }) => requestId === "whole")?.request).toEqual({
      method: "POST",
      path: repair,
      bodyDigest,
    });
  });

  it("warns in the status of a sealed peer that refusals are only logged, before there is no room for any act", async () => {
    const cluster = track(await ServerCluster.start(1));
    await cluster.initialize(1);
    const warnings = async () => {
      const { json } = await cluster.get(1, `${path}/status`);
      return Reflect.get(Object(json["detail"]), "warnings");
    };
    expect(await warnings()).toEqual([]);
    await cluster.stop(1);
    const file = operatorFile(cluster.member(1).dataDir);
    const [, entry = ""] = readFileSync(file, "utf8").split(/[ \n]/);
    let hash = "";
    const chained = Array.from({ length: 2_048 }, () => {
      hash = createHash("sha256").update(hash).update(Buffer.from(entry, "hex")).digest("hex");
      return `${hash} ${entry}\n`;
    });
    writeFileSync(file, chained.join(""));
    await cluster.run(1);
    expect(await warnings()).toEqual([expect.stringMatching(/^operators\.log: it holds 2048 acts, and refusals are/)]);
  });

  it("names the path of a call, whatever authority stands before it", async () => {
    const cluster = track(await ServerCluster.found(1));
    const token = await cluster.mint([], 3_600_000, Date.now(), "mallory");
    const { host, hostname, port } = new URL(cluster.member(1).server?.url ?? "");
    const target = `http://${"h".repeat(4_000)}${path}/seal?x`;
    const status = await new Promise((answered, failed) => {
      const call = request({ hostname, port, method: "POST", path: target, headers: { host, "x-jwt-token": token } });
      call.on("error", failed).on("response", ({ statusCode }) => answered(statusCode));
      call.end();
    });
    expect(status).toBe(403);
    // The refusal is written in passing; the next row shows that it was.
    await cluster.post(1, `${path}/integrity/rotate`, {});
    await cluster.stop(1);
    const rows = await auditOf(cluster, 1);
    expect(lines(rows)).toContain("SEAL ACCESS_DENIED mallory");
    expect(rows.find(({ event }) => event === "SEAL")?.request?.path).toBe(`${path}/seal`);
  });

  it("counts refusals by their code", async () => {
    const cluster = track(await ServerCluster.found(1));
    const stranger = await cluster.mint([]);
    await cluster.post(1, `${path}/seal`, {}, { "x-jwt-token": stranger });
    await cluster.post(1, `${path}/seal`, {}, { "x-jwt-token": "x" });
    await cluster.post(1, "/v1/custody/approvers", {}, { "x-jwt-token": "x" });
    const metrics = await (await fetch(`${cluster.server(1).peerUrl}/metrics`)).text();
    expect(metrics).toContain('custody_problems_total{code="ACCESS_DENIED"} 1\n');
    expect(metrics).toContain('custody_problems_total{code="UNAUTHENTICATED"} 2\n');
    expect(metrics).toContain('custody_operator_calls_total{call="SEAL",outcome="ACCESS_DENIED"} 1\n');
    expect(metrics).toContain('custody_operator_calls_total{call="SEAL",outcome="UNAUTHENTICATED"} 1\n');
    expect(metrics).toContain('custody_operator_calls_total{call="INITIALIZE",outcome="APPLIED"} 1\n');
  });
});
