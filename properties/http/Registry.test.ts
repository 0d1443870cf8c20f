import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answered, freshKey64, registration, ServerCluster } from "./ServerCluster.ts";

/** An implementation of SHA-256 that has nothing to do with ours. */
const digestTool = "openssl";

let cluster: ServerCluster;
beforeAll(async () => {
  cluster = await ServerCluster.found(3);
});
afterAll(async () => {
  await cluster.close();
});

const refOf = (answered: { readonly json: { readonly [name: string]: unknown } }): string =>
  String(answered.json["ref"]);

describe("three peers over HTTP", () => {
  it("register through each of them and read the same bytes from all", async () => {
    for (const through of [1, 2, 3]) {
      const body = registration(`through-${through}`, freshKey64(), { zeta: "1", alpha: "ü", "10": "x", "9": "y" });
      const created = await cluster.register(through, body);
      expect(created.status).toBe(201);
      expect(created.headers.get("etag")).toBe('"1"');
      expect(created.headers.get("content-type")).toBe("application/json");
      expect(Object.keys(created.json)).toEqual([
        "id",
        "ref",
        "credential",
        "metadata",
        "metadataRevision",
        "createdAt",
        "updatedAt",
      ]);
      expect(created.json).toMatchObject({ ...body, metadataRevision: 1 });
      for (const from of [1, 2, 3]) {
        const read = await cluster.read(from, refOf(created));
        expect([read.status, read.text, read.headers.get("etag")]).toEqual([200, created.text, '"1"']);
      }
    }
  });

  it.skipIf(spawnSync(digestTool, ["version"]).status !== 0)(
    "name an approver as openssl computes it (skipped without openssl)",
    async () => {
      const publicKey64 = freshKey64();
      const created = await cluster.register(2, registration("digest", publicKey64));
      const folder = mkdtempSync(join(tmpdir(), "custody-digest-"));
      const file = join(folder, "preimage");
      const json = `{"algorithm":"ED25519","publicKey64":"${publicKey64}","type":"SIGNATURE","version":1}`;
      writeFileSync(file, `SERVICE_APPROVER_V1\0${json}`);
      const { stdout } = spawnSync(digestTool, ["dgst", "-sha256", "-r", file], { encoding: "utf8" });
      rmSync(folder, { recursive: true });
      expect(refOf(created)).toBe(`digest@sha256:${stdout.slice(0, 64)}`);
    },
  );

  it("answer an identical retry 200, a new key 201, and the key under another id 409", async () => {
    const publicKey64 = freshKey64();
    const created = await cluster.register(1, registration("retry", publicKey64));
    const again = await cluster.register(3, registration("retry", publicKey64, { other: "metadata" }));
    expect([created.status, again.status, again.text]).toEqual([201, 200, created.text]);
    expect((await cluster.register(2, registration("retry"))).status).toBe(201);
    const stolen = await cluster.register(2, registration("thief", publicKey64));
    expect([stolen.status, stolen.json["code"]]).toEqual([409, "KEY_ALREADY_REGISTERED"]);
    expect(stolen.text).not.toContain(publicKey64);
  });

  it("answer 64 callers at once, each with its own approver", async () => {
    const bodies = Array.from({ length: 64 }, (_, index) => registration(`many-${index}`));
    // On a busy machine a member may be called late; then a caller asks again, as it is told to.
    const insist = async (through: number, body: (typeof bodies)[number], again = false): Promise<Answered> => {
      const answered = await cluster.register(through, body);
      if (answered.status === 503 && answered.json["retryable"] === true) return insist(through, body, true);
      expect(answered.status === 201 || (again && answered.status === 200)).toBe(true);
      return answered;
    };
    const answers = await Promise.all(bodies.map((body, index) => insist((index % 3) + 1, body)));
    expect(answers.map(({ json }) => json["id"])).toEqual(bodies.map(({ id }) => id));
  });

  it("take a ref with @ and : raw or encoded, decoded once", async () => {
    const ref = refOf(await cluster.register(1, registration("a.b_c-d")));
    const encoded = encodeURIComponent(ref);
    const path = (segment: string) => cluster.get(2, `/v1/custody/approvers/${segment}`).then(({ status }) => status);
    expect(await path(ref)).toBe(200);
    expect(await path(encoded)).toBe(200);
    expect(await path(encoded.toLowerCase())).toBe(200);
    expect(await path(ref.replace("@", "%40"))).toBe(200);
    expect(await path(encodeURIComponent(encoded))).toBe(400);
  });

  it("tell an unknown ref from a malformed one", async () => {
    const hash = "0".repeat(64);
    const unknown = await cluster.read(1, `alice@sha256:${hash}`);
    expect([unknown.status, unknown.json["code"]]).toEqual([404, "APPROVER_NOT_FOUND"]);
    for (const bad of [
      "alice",
      `alice@sha256:${"A".repeat(64)}`,
      `alice@sha256:${"0".repeat(63)}`,
      `@sha256:${hash}`,
    ]) {
      const { status, json } = await cluster.read(1, bad);
      expect([status, json["code"]]).toEqual([400, "INVALID_REF"]);
    }
    expect((await cluster.get(1, "/v1/custody/approvers/%ff")).json["code"]).toBe("INVALID_REF");
    expect((await cluster.get(1, "/v1/custody/approvers/%")).json["code"]).toBe("INVALID_REF");
  });

  it("show the configuration to any valid token and to nothing else", async () => {
    const path = "/v2/custody/config";
    const bare = await cluster.get(3, path, { "x-jwt-token": await cluster.mint([]) });
    expect(bare.status).toBe(200);
    const missing = await fetch(`${cluster.server(3).url}${path}`);
    expect([missing.status, missing.headers.get("www-authenticate")]).toEqual([401, expect.stringContaining("JWT")]);
    expect((await cluster.get(3, path, { "x-jwt-token": cluster.member(3).shares[0] ?? "" })).status).toBe(401);

    const shown = await cluster.get(3, "/v2/custody/config");
    expect(shown.json).toEqual({
      threshold: 2,
      total: 3,
      features: ["core", "keys"],
      authorities: ["arbitrary", "custom"],
      sealProvider: "shamir",
    });
  });

  it("log neither tokens nor bodies nor shares", async () => {
    const all = cluster.logs.join("");
    expect(all).toContain('"event":"request"');
    expect(all).not.toContain(cluster.token);
    expect(all).not.toContain(cluster.token.split(".")[2]);
    for (const id of cluster.ids) for (const share of cluster.member(id).shares) expect(all).not.toContain(share);
    expect(all).not.toContain("publicKey64");
  });
});
