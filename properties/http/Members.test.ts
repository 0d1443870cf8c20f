import { afterEach, describe, expect, it, vi } from "vitest";
import { commands } from "../../core/commands/Commands.ts";
import { registration, ServerCluster } from "./ServerCluster.ts";

const opened: Array<ServerCluster> = [];
const track = (cluster: ServerCluster): ServerCluster => {
  opened.push(cluster);
  return cluster;
};
afterEach(async () => {
  await Promise.all(opened.splice(0).map((cluster) => cluster.close()));
});

const refOf = (answered: { readonly json: { readonly [name: string]: unknown } }): string =>
  String(answered.json["ref"]);
const state = async (cluster: ServerCluster, id: number) =>
  (await fetch(`${cluster.server(id).url}/v1/custody/system/status`)).json();

describe("a peer's incarnation", () => {
  it("goes from uninitialized over sealed to unsealed, by its own shares only", async () => {
    const cluster = track(await ServerCluster.start(1));
    expect(await state(cluster, 1)).toEqual({ state: "UNINITIALIZED" });
    expect((await cluster.get(1, "/v2/custody/config")).json["code"]).toBe("NOT_INITIALIZED");
    expect((await cluster.register(1, registration("early"))).json["code"]).toBe("NOT_INITIALIZED");
    expect((await cluster.read(1, `a@sha256:${"0".repeat(64)}`)).json["code"]).toBe("NOT_INITIALIZED");
    expect((await cluster.post(1, "/v1/custody/system/unseal", { share64: "AA==" })).json["code"]).toBe(
      "NOT_INITIALIZED",
    );
    const refused = await cluster.post(1, "/v1/custody/system/init", { peerId: 1, threshold: 1, total: 2 });
    expect(refused.json).toMatchObject({ code: "INVALID_REQUEST_BODY" });
    expect(await state(cluster, 1)).toEqual({ state: "UNINITIALIZED" });

    const first = await cluster.initialize(1);
    expect(first.json).toMatchObject({ peerId: 1, threshold: 1, total: 1, sharesNeeded: 2 });
    const earlier = cluster.member(1).shares;
    await cluster.initialize(1);
    expect(cluster.member(1).shares).toHaveLength(3);
    expect(await state(cluster, 1)).toEqual({ state: "SEALED" });
    const unseal = (share64: string | undefined) => cluster.post(1, "/v1/custody/system/unseal", { share64 });
    expect((await unseal(earlier[0])).json).toMatchObject({
      code: "INVALID_SHARE",
      errors: [{ code: "foreign_share" }],
    });
    expect((await unseal("AA==")).json).toMatchObject({ code: "INVALID_SHARE", errors: [{ code: "malformed_share" }] });
    expect((await unseal(cluster.member(1).shares[2])).json).toEqual({ state: "SEALED", have: 1, need: 2 });
    expect((await unseal(cluster.member(1).shares[0])).json).toEqual({ state: "UNSEALED", have: 2, need: 2 });
    await cluster.ready(1);
    expect((await cluster.register(1, registration("alice"))).status).toBe(201);
  });

  it("keeps its records over a restart, and its shares over two initializations", async () => {
    const cluster = track(await ServerCluster.start(1));
    await cluster.initialize(1);
    await cluster.initialize(1);
    await cluster.stop(1);
    await cluster.run(1);
    await cluster.unseal(1);
    await cluster.ready(1);
    const created = await cluster.register(1, registration("alice"));
    await cluster.stop(1);
    await cluster.run(1, { CUSTODY_AUTHORITIES_ARBITRARY: "false" });
    expect((await cluster.read(1, refOf(created))).json["code"]).toBe("SEALED");
    expect((await cluster.get(1, "/v2/custody/config")).json["authorities"]).toEqual(["custom"]);
    await cluster.unseal(1);
    expect((await cluster.read(1, refOf(created))).text).toBe(created.text);
  });

  it("ignores a bootstrap secret once the cluster is founded and warns of it, and asks for one before", async () => {
    const cluster = track(await ServerCluster.found(2));
    const warnings = async (id: number) => {
      const { detail } = (await cluster.get(id, "/v1/custody/system/status")).json;
      return (detail as { readonly warnings: unknown }).warnings;
    };
    const logged = (text: string) => cluster.logs.filter((line) => line.includes(text));
    const { detail } = (await cluster.get(1, "/v1/custody/system/status")).json;
    const { clusterId } = (detail as { readonly topology: { readonly clusterId: string } }).topology;
    expect(logged('"event":"founded"').map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({ clusterId, members: "1,2" }),
      expect.objectContaining({ clusterId, members: "1,2" }),
    ]);
    expect(logged("bootstrap secret is left over")).toHaveLength(2);
    expect(await warnings(1)).toEqual([expect.stringMatching(/^CUSTODY_BOOTSTRAP_SECRET: .*remove the setting/)]);
    await cluster.stop(2);
    // The member that is left says once why it reaches nobody, though it tries again and again.
    await cluster.unready(1);
    const away = () => logged('"event":"peer unreachable"').map((line) => JSON.parse(line) as unknown);
    const reason = "nothing listens there; start it, or correct the address";
    await vi.waitFor(() => expect(away()).toContainEqual(expect.objectContaining({ peerId: 2, reason })), 15_000);
    expect(away().length).toBeLessThanOrEqual(4);
    // Not even read: a secret that would be refused for its form does no harm either.
    await cluster.run(2, { CUSTODY_BOOTSTRAP_SECRET: "short", CUSTODY_CLUSTER_BOOTSTRAP_SECRET_FILE: "/nowhere" });
    expect(logged("bootstrap secret is left over")).toHaveLength(3);
    await cluster.stop(2);
    await cluster.run(2);
    expect(logged("bootstrap secret is left over")).toHaveLength(3);
    expect(await warnings(2)).toEqual([]);
    const fresh = track(await ServerCluster.start(2));
    await fresh.stop(1);
    fresh.member(1).shares = ["pretend it is founded"];
    await expect(fresh.run(1)).rejects.toThrow(/is required before/);
  });
});

describe("a member in the way", () => {
  it("is named when it is sealed, and is back after its unseal", async () => {
    const cluster = track(await ServerCluster.found(3));
    const created = await cluster.register(1, registration("alice"));
    const sealed = await cluster.post(2, "/v1/custody/system/seal", "");
    expect([sealed.status, sealed.json]).toEqual([200, { state: "SEALED" }]);
    await cluster.unready(1);
    for (const through of [1, 3]) {
      const refused = await cluster.register(through, registration("bob"));
      expect(refused.json).toMatchObject({
        status: 503,
        code: "APPROVER_REPLICATION_UNAVAILABLE",
        retryable: true,
        members: [{ peerId: 2, reason: "it is sealed" }],
      });
    }
    const own = await cluster.register(2, registration("bob"));
    expect(own.json).toMatchObject({ code: "APPROVER_REPLICATION_UNAVAILABLE", members: [{ peerId: 2 }] });
    expect((await cluster.read(2, refOf(created))).json["code"]).toBe("SEALED");
    expect((await cluster.read(3, refOf(created))).text).toBe(created.text);
    expect((await cluster.get(1, "/v1/custody/system/ready")).json).toMatchObject({
      code: "NOT_READY",
      members: [{ peerId: 2 }],
    });
    await cluster.unseal(2);
    await cluster.ready(1);
    expect((await cluster.register(2, registration("bob"))).status).toBe(201);
  });

  it("is named when its relying party is another one, and not once it is the same again", async () => {
    const cluster = track(await ServerCluster.found(2));
    const enrolling = {
      CUSTODY_WEBAUTHN_ENABLED: "true",
      CUSTODY_WEBAUTHN_RP_ID: "localhost",
      CUSTODY_WEBAUTHN_RP_NAME: "Test",
      CUSTODY_WEBAUTHN_ORIGINS: "http://localhost:7300",
    };
    const restart = async (id: number, env: Readonly<Record<string, string>>): Promise<void> => {
      await cluster.stop(id);
      await cluster.run(id, env);
      await cluster.unseal(id);
    };
    await expect(restart(1, { ...enrolling, CUSTODY_WEBAUTHN_ORIGINS: "http://localhost/x" })).rejects.toThrow(
      'webauthn.origins.0 (from CUSTODY_WEBAUTHN_ORIGINS): "http://localhost/x" holds a path',
    );
    await restart(1, enrolling);
    await restart(2, { ...enrolling, CUSTODY_WEBAUTHN_RP_NAME: "Another" });
    await vi.waitFor(async () => {
      const { json } = await cluster.get(1, "/v1/custody/system/ready");
      expect(json).toMatchObject({
        code: "NOT_READY",
        members: [{ peerId: 2, reason: "its cluster configuration differs" }],
      });
    });
    await restart(2, enrolling);
    await cluster.ready(1);
    expect((await cluster.register(2, registration("alice"))).status).toBe(201);
  });

  it("is named when it is down, and catches up when it is back", async () => {
    const cluster = track(await ServerCluster.found(3));
    const before = await cluster.register(1, registration("alice"));
    await cluster.stop(1);
    const refused = await cluster.register(3, registration("bob"));
    expect([refused.status, refused.json["members"]]).toEqual([503, [{ peerId: 1, reason: "it does not answer" }]]);
    await cluster.run(1);
    await cluster.unseal(1);
    await cluster.ready(3);
    const after = await cluster.register(3, registration("bob"));
    expect(after.status).toBe(201);
    for (const id of cluster.ids)
      for (const each of [before, after]) expect((await cluster.read(id, refOf(each))).text).toBe(each.text);
  });

  it("is named when a row of it was tampered with, while its other rows are read", async () => {
    const cluster = track(await ServerCluster.found(3));
    const [good, bad] = [
      await cluster.register(1, registration("good")),
      await cluster.register(1, registration("bad")),
    ];
    await cluster.tamper(2, `UPDATE records SET row = (SELECT row FROM records WHERE key = ?) WHERE key = ?`, [
      refOf(good),
      refOf(bad),
    ]);
    const damaged = await cluster.read(2, refOf(bad));
    expect([damaged.status, damaged.json["code"], damaged.json["retryable"]]).toEqual([
      503,
      "INTEGRITY_FAILURE",
      false,
    ]);
    expect((await cluster.read(2, refOf(good))).text).toBe(good.text);
    expect((await cluster.read(3, refOf(bad))).text).toBe(bad.text);
    await cluster.unready(1);
    const refused = await cluster.register(3, registration("later"));
    expect(refused.json).toMatchObject({
      code: "APPROVER_REPLICATION_UNAVAILABLE",
      members: [{ peerId: 2, reason: "its stored records do not hold" }],
    });
    const { detail } = (await cluster.get(2, "/v1/custody/system/status")).json;
    expect(detail).toMatchObject({ integrityFault: `approvers/${refOf(bad)}` });
  });

  it("finds a deleted row when it is unsealed", async () => {
    const cluster = track(await ServerCluster.found(1));
    const created = await cluster.register(1, registration("alice"));
    await cluster.stop(1);
    await cluster.tamper(1, "DELETE FROM records WHERE name = 'approvers'");
    await cluster.run(1);
    const refusal = { status: 503, json: { code: "INTEGRITY_FAILURE", retryable: false } };
    expect(await cluster.unseal(1)).toMatchObject(refusal);
    // It has its keys by then, and a further share changes nothing.
    expect(await cluster.unseal(1)).toMatchObject(refusal);
    expect((await cluster.get(1, "/v1/custody/system/status")).json).toMatchObject({ state: "UNSEALED" });
    expect((await cluster.read(1, refOf(created))).json["code"]).toBe("INTEGRITY_FAILURE");
    const refused = await cluster.register(1, registration("bob"));
    expect(refused.json).toMatchObject({ members: [{ peerId: 1, reason: "its stored records do not hold" }] });
    expect(cluster.logs.join("")).toMatch(/rows are missing/);
  });
});

describe("the status", () => {
  it("tells an operator everything and others the state", async () => {
    const cluster = track(await ServerCluster.found(3));
    await cluster.register(2, registration("alice"));
    const { json } = await cluster.get(2, "/v1/custody/system/status");
    const { versions } = commands;
    expect(json).toMatchObject({
      state: "UNSEALED",
      detail: {
        peerId: 2,
        threshold: 2,
        total: 3,
        topology: { epoch: 1, members: [1, 2, 3], writer: 1, development: false },
        approvers: 1,
        uncommitted: 0,
        highestSlot: 1,
        lastDecidedSlot: 1,
        members: [
          { peerId: 1, self: false, reachable: true, ready: true, versions },
          { peerId: 2, self: true, reachable: true, ready: true, versions },
          { peerId: 3, self: false, reachable: true, ready: true, versions },
        ],
      },
    });
    const reader = await cluster.mint(["service.approvers.read"]);
    const limited = await cluster.get(2, "/v1/custody/system/status", { "x-jwt-token": reader });
    expect(limited.json).toEqual({ state: "UNSEALED" });
    expect((await cluster.get(2, "/v1/custody/system/status", { "x-jwt-token": "x" })).status).toBe(401);
  });

  it("shows two peers that were given different numbers", async () => {
    const cluster = track(await ServerCluster.start(2));
    await cluster.initialize(1);
    const other = await cluster.post(2, "/v1/custody/system/init", { peerId: 1, threshold: 2, total: 2 });
    expect(other.json).toMatchObject({ code: "INVALID_REQUEST_BODY", errors: [{ pointer: "/peerId" }] });
    await cluster.unseal(1);
    const { json } = await cluster.get(1, "/v1/custody/system/status");
    expect(json).toMatchObject({
      state: "UNSEALED",
      detail: { founding: { introduced: [1], signed: [], faults: [] } },
    });
  });
});
