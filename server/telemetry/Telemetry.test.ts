import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Exit, Scope } from "effect";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { OtlpCollector } from "../../properties/http/OtlpCollector.ts";
import type { Config } from "../config/ConfigSchema.ts";
import { jsonLog } from "../peer/Log.ts";
import { Metrics } from "../peer/Metrics.ts";
import { openTelemetry } from "./Telemetry.ts";
import type { Exchange } from "./Traces.ts";

const folder = mkdtempSync(join(tmpdir(), "custody-telemetry-"));
const headersFile = join(folder, "headers");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let collector: OtlpCollector;
let scope: Scope.CloseableScope;
const lines: Array<string> = [];
let metrics: Metrics;
beforeEach(async () => {
  lines.splice(0);
  metrics = new Metrics();
  collector = await OtlpCollector.open();
  scope = await Effect.runPromise(Scope.make());
});
afterEach(() => collector.close());

const open = (more: Partial<Config["telemetry"]> | undefined) => {
  const defaults = {
    otlpEndpoint: collector.url,
    inClear: false,
    signals: ["traces", "metrics"] as const,
    samplingRatio: 1,
    exportIntervalMillis: 3_600_000,
  };
  const ports = {
    version: "0.1.0",
    self: () => 2,
    metrics,
    log: jsonLog(
      "debug",
      (line) => void lines.push(line),
      () => 0,
    ),
    now: () => 1_700_000_000_000,
    elapsedMillis: () => 0,
    ...(collector.manner === "hang" ? { closingMillis: 100 } : {}),
  };
  const opening = openTelemetry(more === undefined ? {} : { telemetry: { ...defaults, ...more } }, ports);
  return Effect.runPromise(Effect.either(Scope.extend(opening, scope)));
};
const opened = async (more: Partial<Config["telemetry"]> | undefined) => {
  const telemetry = await open(more);
  if (telemetry._tag === "Left") throw new Error(telemetry.left.message);
  return telemetry.right;
};
const close = (): Promise<void> => Effect.runPromise(Scope.close(scope, Exit.void));

const exchange: Exchange = {
  method: "GET",
  route: "/v2/custody/config",
  status: 200,
  code: undefined,
  millis: 2,
  request: undefined,
  traceparent: undefined,
};

describe("telemetry", () => {
  it("is not there unless it is configured: nobody is called", async () => {
    expect(await opened(undefined)).toBeUndefined();
    await close();
    expect(collector.headers).toEqual([]);
  });

  it("cannot be opened with a file that others may read", async () => {
    writeFileSync(headersFile, "a: hunter2\n", { mode: 0o644 });
    expect(await open({ headersFile })).toMatchObject({
      left: { message: expect.stringMatching(/^telemetry\.headers-file: .* holds a secret/) },
    });
    rmSync(headersFile);
    await close();
  });

  it("sends at the end what is left, and then no more", async () => {
    const telemetry = await opened({});
    telemetry?.measureWith(() => Promise.resolve([]));
    telemetry?.traces?.exchange(exchange);
    expect(collector.bodies).toEqual([]);
    await close();
    expect(collector.bodies.map(({ path }) => path)).toEqual(["/v1/traces", "/v1/metrics"]);
    expect(collector.spans).toMatchObject([
      {
        by: "2",
        name: "GET /v2/custody/config",
        startTimeUnixNano: "1699999999998000000",
        endTimeUnixNano: "1700000000000000000",
        status: {},
      },
    ]);
    expect(lines).toEqual([]);
  });

  it("sends only what is asked for", async () => {
    const metricsOnly = await opened({ signals: ["metrics"] });
    metricsOnly?.measureWith(() => Promise.resolve([]));
    expect(metricsOnly?.traces).toBeUndefined();
    const tracesOnly = await opened({ signals: ["traces"] });
    tracesOnly?.measureWith(() => Promise.reject(new Error("never asked")));
    tracesOnly?.traces?.exchange(exchange);
    await close();
    expect(collector.bodies.map(({ path }) => path)).toEqual(["/v1/traces", "/v1/metrics"]);
    expect(lines).toEqual([]);
  });

  it("marks a fault of this peer as one", async () => {
    const telemetry = await opened({});
    telemetry?.traces?.exchange({ ...exchange, status: 503, code: "SEALED" });
    await close();
    expect(collector.spans[0]?.status).toEqual({ code: 2 });
  });

  it("records no trace with the ratio 0", async () => {
    const telemetry = await opened({ samplingRatio: 0 });
    const consumed = vi.fn();
    const arrived = { from: 3, message: { _tag: "Outcome", requestId: "a" } } as never;
    telemetry?.traces?.exchange({ ...exchange, request: "2/a" });
    expect(telemetry?.traces?.delivery(2, arrived, consumed)).toBe(consumed);
    await close();
    expect(collector.spans).toEqual([]);
  });

  it("waits for a collector that never answers only so long, and counts what it did not take", async () => {
    collector.manner = "hang";
    const telemetry = await opened({});
    const count = vi.spyOn(metrics, "count");
    telemetry?.traces?.exchange(exchange);
    await close();
    expect(collector.bodies).toHaveLength(1);
    expect(count).toHaveBeenCalledWith("custody_spans_dropped_total", "stopped");
    await vi.waitFor(() => expect(collector.openSockets).toBe(0));
  });
});
