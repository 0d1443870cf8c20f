/** The audit over HTTP (contract 6.1), in the pages that `custody audit` reads. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { AuditChain } from "../../server/audit/AuditChain.ts";
import { auditCrypto } from "../AuditChains.ts";
import { runInProcess } from "../cli/InProcess.ts";
import { type Answered, registration, ServerCluster } from "./ServerCluster.ts";

const AUDIT = "/v1/custody/audit";
const APPROVERS = 40;

let cluster: ServerCluster;
let auditor: Readonly<Record<string, string>>;
beforeAll(async () => {
  cluster = await ServerCluster.found(3);
  auditor = { "x-jwt-token": await cluster.mint(["service.audit.read"]) };
  await Promise.all(Array.from({ length: APPROVERS }, (_, at) => cluster.register(1, registration(`approver-${at}`))));
  await cluster.ready(2);
});
afterAll(() => cluster.close());

const ask = (query: string, id = 1): Promise<Answered> => cluster.get(id, `${AUDIT}${query}`, auditor);
const eventsIn = ({ json }: Answered): ReadonlyArray<unknown> => {
  const { events } = json;
  return Array.isArray(events) ? events : [];
};

/** All events of a peer, in pages of this size. */
const walk = async (id: number, limit: number): Promise<AuditChain> => {
  const chain = new AuditChain(auditCrypto);
  for (;;) {
    const page = await ask(`?since=${chain.last.seq + 1}&limit=${limit}`, id);
    expect(page.status).toBe(200);
    expect(eventsIn(page).length).toBeLessThanOrEqual(limit);
    for (const event of eventsIn(page)) expect(chain.take(event)).toBeUndefined();
    expect(page.json["next"]).toBe(chain.last.seq + 1);
    if (eventsIn(page).length < limit) {
      expect(page.json["head"]).toEqual(chain.last);
      return chain;
    }
  }
};

it("has every change and every operator's act of each peer, as one chain, in pages of any size", async () => {
  for (const id of cluster.ids) {
    const [whole, small] = [await walk(id, 1000), await walk(id, 7)];
    expect(whole.events).toBeGreaterThan(APPROVERS);
    expect([small.peerId, small.last]).toEqual([id, whole.last]);
  }
  const types = eventsIn(await ask("?limit=1000")).map((event) => String(Reflect.get(Object(event), "type")));
  for (const type of ["INITIALIZE", "UNSEAL", "CLUSTER_FOUNDED", "APPROVER_REGISTERED"])
    expect(types).toContain(`custody.audit.${type}`);
});

it("is for the permission service.audit.read alone, and named before anything else is judged", async () => {
  expect((await cluster.get(1, `${AUDIT}?since=x`)).json).toMatchObject({ status: 403, code: "ACCESS_DENIED" });
  expect((await cluster.get(1, AUDIT, { "x-jwt-token": "x" })).status).toBe(401);
  expect((await cluster.post(1, AUDIT, {}, auditor)).status).toBe(405);
  const head = await fetch(`${cluster.server(1).url}${AUDIT}`, { method: "HEAD", headers: auditor });
  expect([head.status, await head.text()]).toEqual([200, ""]);
});

it.each(["?since=0", "?since=-1", "?since=1e3", "?since=", "?since=01", "?limit=0", "?limit=1001", "?since=1&since=1"])(
  "refuses the query %s by the name of its parameter",
  async (query) => {
    const { status, json } = await ask(query);
    expect([status, json["code"]]).toEqual([400, "INVALID_QUERY"]);
    expect(json["errors"]).toMatchObject([{ parameter: query.slice(1, 6) }]);
  },
);

it("refuses a parameter that it does not know without repeating it", async () => {
  const { status, text } = await ask("?wait=1");
  expect(status).toBe(400);
  expect(text).not.toContain("wait");
  expect(text).toContain("#1");
});

it("is empty past its end, and says where that is", async () => {
  const { json } = await ask("?since=100000");
  expect(json).toMatchObject({ events: [], next: 100_000, head: { seq: expect.any(Number) } });
});

it("is refused while the peer is sealed, as reads are, and goes on where it was", async () => {
  const before = await walk(3, 1000);
  await cluster.post(3, "/v1/custody/system/seal", {});
  expect(await ask("", 3)).toMatchObject({ status: 503, json: { code: "SEALED" } });
  await cluster.unseal(3);
  await cluster.ready(3);
  const after = await walk(3, 1000);
  expect(after.events).toBe(before.events + 3);
});

it("is what custody audit exports and verifies, live and in a file", async () => {
  const { url } = cluster.server(2);
  const env = { CUSTODY_URL: url, CUSTODY_TOKEN: String(auditor["x-jwt-token"]) };
  const out = join(cluster.folder, "audit.jsonl");
  const exported = await runInProcess(["audit", "export", "--out", out], env);
  expect([exported.code, exported.stdout]).toEqual([0, ""]);
  const lines = readFileSync(out, "utf8").trimEnd().split("\n");
  expect(lines.length).toBe((await walk(2, 1000)).events);
  const verified = await runInProcess(["audit", "verify", out, "--live", "--json"], env);
  expect(verified.code).toBe(0);
  expect(JSON.parse(verified.stdout)).toMatchObject({ peerId: 2, events: lines.length, repeated: 0 });
  const other = { ...env, CUSTODY_URL: cluster.server(1).url };
  const elsewhere = await runInProcess(["audit", "verify", out, "--live"], other);
  expect([elsewhere.code, elsewhere.stderr]).toEqual([2, expect.stringContaining("peer 1 answered")]);
});

it("stops at the first row that is not the one that was written, and so does the peer's signing", async () => {
  const key = "0000000000000005";
  await cluster.tamper(2, "UPDATE records SET row = zeroblob(length(row)) WHERE name = 'audit' AND key = ?", [key]);
  expect((await ask("?limit=3", 2)).status).toBe(200);
  const { status, json } = await ask("", 2);
  expect([status, json["code"]]).toEqual([503, "INTEGRITY_FAILURE"]);
  expect(json["detail"]).toContain(`audit/${key}`);
  await cluster.unready(1);
});
