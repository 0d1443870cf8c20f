/** What a load balancer is told of real peers, in every state that can be brought about from outside. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { registration, ServerCluster } from "./ServerCluster.ts";

const SYSTEM = "/v1/custody/system";
const opened: Array<ServerCluster> = [];
const track = (cluster: ServerCluster): ServerCluster => {
  opened.push(cluster);
  return cluster;
};
afterEach(async () => {
  await Promise.all(opened.splice(0).map((cluster) => cluster.close()));
});

/** A probe as balancers send it: without a token, and with a method that asks for no body. */
const probe = async (url: string, name: string): Promise<number | string> => {
  const [got, head] = await Promise.all(
    ["GET", "HEAD"].map((method) => fetch(`${url}${SYSTEM}/${name}`, { method, headers: { connection: "close" } })),
  );
  const { code, retryable } = Object((await got?.json()) ?? {});
  expect([head?.status, await head?.text()]).toEqual([got?.status, ""]);
  if (got?.status === 200) return 200;
  expect([got?.status, got?.headers.get("content-type")]).toEqual([503, "application/problem+json"]);
  expect([code, got?.headers.has("retry-after")]).toEqual([code, retryable]);
  return String(code);
};

/** The answers of health, readable and ready. */
const probes = async (url: string) => [
  await probe(url, "health"),
  await probe(url, "readable"),
  await probe(url, "ready"),
];
const told = (cluster: ServerCluster, id = 1) => probes(cluster.server(id).url);

describe("probes of one peer", () => {
  it("go from a blank peer through a sealed to a ready one, and back", async () => {
    const cluster = track(await ServerCluster.start(1));
    expect(await told(cluster)).toEqual([200, "NOT_INITIALIZED", "NOT_READY"]);
    await cluster.initialize(1);
    expect(await told(cluster)).toEqual([200, "SEALED", "NOT_READY"]);
    await cluster.unseal(1);
    await cluster.ready(1);
    expect(await told(cluster)).toEqual([200, 200, 200]);
    await cluster.post(1, `${SYSTEM}/seal`, {});
    expect(await told(cluster)).toEqual([200, "SEALED", "NOT_READY"]);
  });

  it("turn callers away from a peer whose records do not hold, although it answers single reads", async () => {
    const cluster = track(await ServerCluster.found(1));
    const refs = await Promise.all(
      ["alice", "bob"].map(async (id) => String((await cluster.register(1, registration(id))).json["ref"])),
    );
    const [lost = "", kept = ""] = refs;
    await cluster.tamper(1, "DELETE FROM records WHERE name = 'approvers' AND key = ?", [lost]);
    await cluster.stop(1);
    await cluster.run(1);
    await cluster.unseal(1);
    await cluster.unready(1);
    expect(await told(cluster)).toEqual([200, "INTEGRITY_FAILURE", "NOT_READY"]);
    expect((await cluster.read(1, kept)).status).toBe(200);
    // Nothing that is not there is proved never to have been.
    expect(await cluster.read(1, lost)).toMatchObject({ status: 503, json: { code: "INTEGRITY_FAILURE" } });
  });

  it("say no before the listener takes no more connections, for as long as is configured", async () => {
    const cluster = track(await ServerCluster.found(1, "limits: {drain-delay: 2s}"));
    const { url } = cluster.server(1);
    expect(await probes(url)).toEqual([200, 200, 200]);
    const stopping = cluster.stop(1);
    await vi.waitFor(async () => expect(await probes(url)).toEqual([200, "STOPPING", "STOPPING"]));
    // Whoever was not turned away yet is served.
    const answered = await fetch(`${url}/v1/custody/approvers`, {
      method: "POST",
      headers: { "x-jwt-token": cluster.token, "content-type": "application/json" },
      body: JSON.stringify(registration("late")),
    });
    expect([answered.status, answered.headers.get("connection")]).toEqual([201, "close"]);
    await stopping;
    await expect(fetch(`${url}${SYSTEM}/health`)).rejects.toThrow();
  });
});

describe("probes of a cluster", () => {
  it("of changes say no while a member is away or sealed, those of reads go on", async () => {
    const cluster = track(await ServerCluster.found(3));
    expect(await told(cluster, 2)).toEqual([200, 200, 200]);
    await cluster.post(3, `${SYSTEM}/seal`, {});
    await cluster.unready(2);
    expect(await told(cluster, 2)).toEqual([200, 200, "NOT_READY"]);
    await cluster.unseal(3);
    await cluster.ready(2);
    await cluster.stop(3);
    await cluster.unready(2);
    expect(await told(cluster, 2)).toEqual([200, 200, "NOT_READY"]);
    await cluster.run(3);
    await cluster.unseal(3);
    await cluster.ready(2);
    expect(await told(cluster, 2)).toEqual([200, 200, 200]);
  });
});
