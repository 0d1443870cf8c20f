/** One request in the logs of all peers and in their traces, and their metrics, at a collector. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { metricEntries } from "../../server/peer/Metrics.ts";
import { attributesOf, OtlpCollector, type SeenSpan } from "./OtlpCollector.ts";
import { bootstrapSecret, registration, ServerCluster } from "./ServerCluster.ts";

const patience = { timeout: 20_000, interval: 50 };
const REGISTER = "POST /v1/custody/approvers";
const caller = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
const folder = mkdtempSync(join(tmpdir(), "custody-telemetry-"));
const headersFile = join(folder, "headers");
const body = registration("alice", undefined, { purpose: "needle-of-metadata" });

let collector: OtlpCollector;
let cluster: ServerCluster;

beforeAll(async () => {
  writeFileSync(headersFile, "Authorization: Bearer needle-of-the-collector\n", { mode: 0o600 });
  collector = await OtlpCollector.open();
  const at = `telemetry: {otlp-endpoint: "${collector.url}", headers-file: ${headersFile}, export-interval: 1s}`;
  cluster = await ServerCluster.found(3, at);
  const traceparent = `00-${caller.traceId}-${caller.spanId}-00`;
  const headers = { traceparent, "x-request-id": "of-the-caller" };
  expect((await cluster.post(2, "/v1/custody/approvers", body, headers)).status).toBe(201);
});
afterAll(async () => {
  await cluster.close();
  collector.close();
  rmSync(folder, { recursive: true, force: true });
});

type Line = Readonly<Record<string, unknown>>;
const linesOf = (event: string): ReadonlyArray<Line> =>
  cluster.logs.map((line): Line => JSON.parse(line)).filter((line) => line["event"] === event);

const named = (span: SeenSpan): string => `${span.name} by ${span.by}`;
/** Every span of the trace whose root has this name and an attribute like it. */
const traceOf = (name: string, attribute: string, value: unknown): ReadonlyArray<SeenSpan> => {
  const { spans } = collector;
  const root = spans.find((span) => span.name === name && attributesOf(span.attributes)[attribute] === value);
  return spans.filter(({ traceId }) => traceId === root?.traceId);
};

describe("one request in the logs", () => {
  it("has the same name at every peer, and its X-Request-Id where it came in", async () => {
    const own = linesOf("request").find(({ requestId }) => requestId === "of-the-caller");
    expect(own).toMatchObject({ method: "POST", route: "/v1/custody/approvers", status: 201, level: "debug" });
    const name = String(own?.["requests"]);
    expect(name).toMatch(/^2\/\S+$/);
    const arrivals = linesOf("message").filter(({ requests }) => String(requests).split(" ").includes(name));
    const said = new Set(arrivals.map(({ kind, from, to }) => `${String(kind)} ${String(from)}-${String(to)}`));
    expect([...said]).toEqual(
      expect.arrayContaining(["Forward 2-1", "Prepare 1-2", "Prepare 1-3", "Commit 1-2", "Commit 1-3", "Outcome 1-2"]),
    );
    expect(cluster.logs.join("")).not.toContain(cluster.token);
    expect(cluster.logs.join("")).not.toContain(String(body.credential.publicKey64));
  });

  it("names no other peer's request where a read needs none", async () => {
    await cluster.get(3, "/v2/custody/config", { "x-request-id": "a-read" });
    const own = linesOf("request").find(({ requestId }) => requestId === "a-read");
    expect(own).toMatchObject({ status: 200 });
    expect(own).not.toHaveProperty("requests");
  });
});

describe("one registration", () => {
  it("is one trace over three peers, below the exchange with its caller", async () => {
    const all = [
      `${REGISTER} by 2`,
      "message Forward by 1",
      "flush prepare by 1",
      "message Prepare by 2",
      "flush prepare by 2",
      "message Prepare by 3",
      "flush prepare by 3",
      "flush commit by 1",
      "message Commit by 2",
      "flush commit by 2",
      "message Commit by 3",
      "flush commit by 3",
      "message Outcome by 2",
    ];
    const trace = await vi.waitFor(() => {
      const spans = traceOf(REGISTER, "http.response.status_code", 201);
      expect(spans.map(named)).toEqual(expect.arrayContaining(all));
      return spans;
    }, patience);
    const [root, ...others] = trace.filter(({ parentSpanId }) => parentSpanId === undefined);
    expect(others).toEqual([]);
    expect(root?.links).toEqual([caller]);
    expect(trace.filter((span) => span !== root && span.parentSpanId !== root?.spanId)).toEqual([]);
    expect(new Set(trace.map(({ spanId }) => spanId)).size).toBe(trace.length);
    const name = attributesOf(root?.attributes ?? [])["custody.request"];
    expect(name).toMatch(/^2\/\S+$/);
    for (const span of trace) expect(attributesOf(span.attributes)["custody.request"]).toBe(name);
    const prepare = trace.find((span) => named(span) === "message Prepare by 3");
    expect(attributesOf(prepare?.attributes ?? [])).toMatchObject({ "custody.message": "Prepare", "custody.from": 1 });
    for (const { startTimeUnixNano, endTimeUnixNano } of trace)
      expect(BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano)).toBeGreaterThanOrEqual(0n);
  });

  it("that is refused has the code of its problem", async () => {
    const refused = await cluster.register(3, { ...body, id: "needle-of-an-id" });
    expect(refused.status).toBe(409);
    const code = refused.json["code"];
    const trace = await vi.waitFor(() => {
      const spans = traceOf(REGISTER, "custody.problem", code);
      expect(spans).not.toEqual([]);
      return spans;
    }, patience);
    expect(trace.map(named)).toContain(`${REGISTER} by 3`);
    expect(trace[0]?.links).toEqual([]);
  });
});

describe("a collector", () => {
  it("gets every metric of every peer", async () => {
    const listed = (await metricEntries()).map(({ name }) => name);
    for (const by of ["1", "2", "3"]) {
      await vi.waitFor(() => expect(collector.metricsOf(by).size).toBeGreaterThan(0), patience);
      expect([...collector.metricsOf(by).keys()]).toEqual(expect.arrayContaining(listed));
    }
    const pointsOf = (name: string) => collector.metricsOf("2").get(name) ?? [];
    const labelsOf = (name: string) => pointsOf(name).map(({ attributes }) => attributesOf(attributes));
    expect(labelsOf("custody_build_info")).toMatchObject([{ node: process.versions.node }]);
    expect(labelsOf("custody_member_reachable")).toEqual([{ peer: "1" }, { peer: "3" }]);
    expect(pointsOf("custody_member_reachable").map(({ asDouble }) => asDouble)).toEqual([1, 1]);
    expect(pointsOf("process_resident_memory_bytes")[0]?.asDouble).toBeGreaterThan(1e6);
    expect(pointsOf("nodejs_eventloop_lag_seconds")[0]?.asDouble).toBeGreaterThanOrEqual(0);
    await vi.waitFor(() => {
      const latencies = pointsOf("custody_http_request_seconds");
      const latency = latencies.find(({ attributes }) => attributesOf(attributes)["status"] === "201");
      expect(latency?.count).toBe(1);
      expect(latency?.bucketCounts?.length).toBe(Number(latency?.explicitBounds?.length) + 1);
    }, patience);
  });

  it("gets what is left when a peer ends, the token in every request, and nothing that is secret", async () => {
    const route = "/v1/custody/approvers/{ref}";
    await cluster.get(3, "/v1/custody/approvers/needle-of-a-ref", { "x-request-id": "needle-of-a-request" });
    await fetch(`${cluster.server(3).url}/needle-of-a-path?needle-of=a-query`, { method: "PROPFIND" });
    await cluster.stop(3);
    const spans = collector.spans.filter(({ by }) => by === "3");
    expect(spans.map(({ name }) => name)).toEqual(expect.arrayContaining([`GET ${route}`, "HTTP unknown"]));
    expect(collector.headers.every(({ authorization }) => authorization === "Bearer needle-of-the-collector")).toBe(
      true,
    );
    const told = collector.bodies.map(({ text }) => text).join("\n");
    const shares = cluster.ids.flatMap((id) => cluster.member(id).shares);
    for (const secret of [cluster.token, bootstrapSecret, body.credential.publicKey64, ...shares])
      expect(told).not.toContain(secret);
    expect(told).not.toMatch(/needle/i);
    expect(cluster.logs.join("")).not.toContain("needle-of-the-collector");
    expect(cluster.halted).toEqual([]);
  });
});

describe("a collector that answers nonsense, and one that never answers", () => {
  it("costs its peer nothing", async () => {
    const own = await OtlpCollector.open();
    own.manner = "garbage";
    const peer = await ServerCluster.found(1, `telemetry: {otlp-endpoint: "${own.url}", export-interval: 1s}`);
    try {
      await vi.waitFor(() => expect(peer.logs.join("")).toContain("telemetry is not taken"), patience);
      expect((await peer.register(1, registration("alice"))).status).toBe(201);
      own.manner = "hang";
      const before = own.bodies.length;
      await vi.waitFor(() => expect(own.bodies.length).toBeGreaterThan(before), patience);
      expect((await peer.register(1, registration("carol"))).status).toBe(201);
    } finally {
      await peer.close();
      own.close();
    }
    expect(peer.halted).toEqual([]);
  });
});
