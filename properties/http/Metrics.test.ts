/** The listener for metrics, and every metric on it. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type MetricEntry, metricEntries } from "../../server/peer/Metrics.ts";
import { runInProcess } from "../cli/InProcess.ts";
import { issue } from "./Certificates.ts";
import { registration, ServerCluster } from "./ServerCluster.ts";

let cluster: ServerCluster;
const folder = mkdtempSync(join(tmpdir(), "custody-metrics-"));
const authority = issue("authority", undefined);
const public_ = issue("metrics", authority, { until: "20400102030405Z" });
const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];

beforeAll(async () => {
  writeFileSync(cert, public_.pem);
  writeFileSync(key, public_.key.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  cluster = await ServerCluster.found(3, () => "metrics: {port: 0}");
  await cluster.register(2, registration("alice"));
  await cluster.get(2, "/v1/custody/approvers/none@sha256:0");
});
afterAll(async () => {
  await cluster.close();
  rmSync(folder, { recursive: true, force: true });
});

const scrape = async (id: number): Promise<string> => (await fetch(`${cluster.server(id).metricsUrl}/metrics`)).text();
/** The value of the line that begins so. */
const valueOf = (text: string, series: string): number | undefined => {
  const line = text.split("\n").find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
};

describe("the metrics of a peer", () => {
  it("are all on the list that the command prints, and all that it prints are there", async () => {
    const { code, stdout } = await runInProcess(["metrics", "--json"], {});
    expect(code).toBe(0);
    const listed: ReadonlyArray<MetricEntry> = JSON.parse(stdout);
    expect(listed).toEqual(await metricEntries());
    const helped = (await scrape(2)).split("\n").flatMap((line) => /^# HELP (\S+) (.*)$/.exec(line)?.slice(1, 2) ?? []);
    expect(listed.map(({ name }) => name).toSorted()).toEqual(helped.toSorted());
    expect(listed.every(({ help }) => help.length > 10)).toBe(true);
    const text = (await runInProcess(["metrics"], {})).stdout;
    expect(text).toContain("custody_http_request_seconds{route,method,status} histogram\n  Time from the header");
  });

  it("say how the peer, its members and its process are", async () => {
    const text = await scrape(2);
    for (const [series, value] of [
      ["custody_unsealed", 1],
      ["custody_integrity_ok", 1],
      ["custody_token_keys_ok", 1],
      ["custody_epoch", 1],
      ["custody_incarnation", 1],
      ["custody_uncommitted", 0],
      ["custody_approvers", 1],
      ['custody_member_reachable{peer="1"}', 1],
    ] as const)
      expect([series, valueOf(text, series)]).toEqual([series, value]);
    expect(valueOf(text, "custody_audit_sequence")).toBeGreaterThan(1);
    expect(Math.abs(valueOf(await scrape(1), 'custody_member_clock_difference_seconds{peer="3"}') ?? 9)).toBeLessThan(
      1,
    );
    expect(text).toMatch(/^custody_build_info\{version="\d+\.\d+\.\d+[^"]*",node="\d+\.\d+\.\d+"\} 1$/m);
    expect(valueOf(text, "nodejs_eventloop_lag_seconds")).toBeGreaterThanOrEqual(0);
    expect(valueOf(text, "process_resident_memory_bytes")).toBeGreaterThan(1e6);
  });

  it("have the time of every request by route, never by the path that a caller chose", async () => {
    const text = await scrape(2);
    const count = (route: string, method: string, status: number) =>
      valueOf(text, `custody_http_request_seconds_count{route="${route}",method="${method}",status="${status}"}`);
    expect(count("/v1/custody/approvers", "POST", 201)).toBe(1);
    expect(count("/v1/custody/approvers/{ref}", "GET", 400)).toBe(1);
    expect(text).not.toContain("none@sha256");
    await fetch(`${cluster.server(2).url}/invented`, { method: "PROPFIND" });
    expect(await scrape(2)).toContain('{route="unknown",method="other",status="404"}');
  });

  it("have in that time what a request waited for its turn", async () => {
    const waited = async () =>
      valueOf(await scrape(3), 'custody_http_request_seconds_sum{route="unknown",method="GET",status="404"}') ?? 0;
    const [connections, each] = [10, 8];
    const { hostname, port } = new URL(cluster.server(3).url);
    const sockets = Array.from({ length: connections }, () => connect(Number(port), hostname));
    const ask = (count: number) =>
      Promise.all(
        sockets.map(async (socket) => {
          socket.write("GET /invented HTTP/1.1\r\nhost: here\r\n\r\n".repeat(count));
          for (let answers = ""; answers.split("HTTP/1.1 404").length <= count; )
            answers += String((await once(socket, "data"))[0]);
        }),
      );
    // The server knows every connection then.
    await ask(1);
    const before = await waited();
    let isOver = false;
    /** Makes each round of the event loop take a hundredth of a second. */
    const hold = (): void => {
      for (const end = performance.now() + 10; performance.now() < end; ) continue;
      if (!isOver) setImmediate(hold);
    };
    hold();
    await ask(each);
    isOver = true;
    for (const socket of sockets) socket.destroy();
    // Eight begin in each round: of their own, all together take a few hundredths.
    expect((await waited()) - before).toBeGreaterThan(1);
  });
});

describe("the listener for metrics", () => {
  it("needs no token, and serves nothing else", async () => {
    const base = cluster.server(1).metricsUrl;
    const head = await fetch(`${base}/metrics`, { method: "HEAD" });
    expect([head.status, head.headers.get("content-type")]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
    expect((await fetch(`${base}/`)).status).toBe(404);
    expect((await fetch(`${base}/v1/custody/system/health`)).status).toBe(404);
    const refused = await fetch(`${base}/metrics`, { method: "POST", body: "x" });
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  it("is not there unless it is configured", async () => {
    const bare = await ServerCluster.start(1);
    expect(bare.server(1).metricsUrl).toBeUndefined();
    await bare.close();
  });

  it("has TLS of its own, and tells when its certificate ends", async () => {
    const own = await ServerCluster.start(1, () => `metrics: {port: 0, "tls": {cert: ${cert}, key: ${key}}}`);
    try {
      const url = `${own.server(1).metricsUrl}/metrics`;
      expect(url).toMatch(/^https:/);
      const text = await new Promise<string>((resolve, reject) => {
        get(url, { ca: authority.pem }, (response) => {
          let body = "";
          response.on("data", (chunk) => (body += String(chunk)));
          response.on("end", () => resolve(body));
        }).on("error", reject);
      });
      expect(valueOf(text, 'custody_certificate_expiry_timestamp_seconds{listener="metrics"}')).toBe(
        Date.UTC(2040, 0, 2, 3, 4, 5) / 1000,
      );
      expect(valueOf(text, "custody_unsealed")).toBe(0);
    } finally {
      await own.close();
    }
  });
});
