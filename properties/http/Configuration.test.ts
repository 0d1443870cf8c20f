/**
 * GET /v2/custody/config (contract 2.7, 4.2), in every state of a peer. What modules add to it is shown by
 * core/protocol/Supplies.test.ts.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { enrollingElsewhere } from "./Enrollment.ts";
import { registration, ServerCluster } from "./ServerCluster.ts";

const PATH = "/v2/custody/config";
const TOTAL = 3;

let cluster: ServerCluster;
/** A token without any permission. */
let bare: string;
beforeAll(async () => {
  cluster = await ServerCluster.start(TOTAL, `${enrollingElsewhere()}\nauthorities: {arbitrary: false}`);
  bare = await cluster.mint([]);
});
afterAll(() => cluster.close());

const ask = (token = bare) => cluster.get(2, PATH, { "x-jwt-token": token });

const configuration = {
  threshold: 2,
  total: TOTAL,
  features: ["core", "keys"],
  authorities: ["custom"],
  sealProvider: "shamir",
};

describe("the configuration", () => {
  it("is not there before the peer is initialized, which only a token is told", async () => {
    expect((await ask()).json).toMatchObject({ status: 503, code: "NOT_INITIALIZED" });
    expect((await ask("")).json).toMatchObject({ status: 401, code: "UNAUTHENTICATED" });
  });

  it("is there while the peer is sealed and its cluster not founded, for a token without permissions", async () => {
    await cluster.initialize(2);
    const shown = await ask();
    expect({ status: shown.status, json: shown.json }).toEqual({ status: 200, json: configuration });
    expect(shown.headers.get("cache-control")).toBe("no-store");
    expect((await ask("")).status).toBe(401);
  });

  it("is the same once the cluster is founded, and while a member is sealed again", async () => {
    for (const id of [1, 3]) await cluster.initialize(id);
    for (const id of cluster.ids) await cluster.unseal(id);
    for (const id of cluster.ids) await cluster.ready(id);
    expect((await cluster.register(1, registration("alice"))).status).toBe(201);
    expect((await ask()).json).toEqual(configuration);
    await cluster.post(2, "/v1/custody/system/seal", {});
    expect((await ask()).json).toEqual(configuration);
    await cluster.unseal(2);
  });

  it("is read with GET and HEAD alone", async () => {
    const send = (method: string) =>
      fetch(`${cluster.server(2).url}${PATH}`, { method, headers: { "x-jwt-token": bare } });
    expect((await send("HEAD")).status).toBe(200);
    const other = await send("POST");
    expect([other.status, other.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  it("opens to no invitation", async () => {
    await cluster.ready(2);
    const path = "/v1/custody/approvers/webauthn/registration/options";
    const { json } = await cluster.post(1, path, { id: "bob" });
    const invitation = String(json["invitation"]);
    expect(invitation).toMatch(/^[\w-]{43}$/);
    expect((await ask(invitation)).json).toMatchObject({ status: 401, code: "UNAUTHENTICATED" });
  });

  it("names nothing of this cluster's shares, files, addresses and keys", async () => {
    const { text } = await ask();
    expect(Object.keys(JSON.parse(text))).toEqual(Object.keys(configuration));
    for (const id of cluster.ids) for (const share of cluster.member(id).shares) expect(text).not.toContain(share);
    expect(text).not.toMatch(/127\.0\.0\.1|\/|jwks|bootstrap|example\.org/);
  });
});
