import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { MetricFamily } from "../peer/Metrics.ts";
import { metricsJson, tracesJson } from "./OtlpJson.ts";
import type { Span } from "./Span.ts";

/** What the library of OpenTelemetry itself writes for the same spans and metrics, defaults included. */
const reference = JSON.parse(readFileSync("server/telemetry/otlp-reference.json", "utf8"));

const resource = { "service.name": "custody", "service.version": "0.1.0", "service.instance.id": "2" };
const [since, now] = [1_700_000_000_000, 1_700_000_000_125.5];
const traceId = "0af7651916cd43dd8448eb211c80319c";
const root: Span = {
  traceId,
  spanId: "b7ad6b7169203331",
  parentSpanId: undefined,
  name: "POST /v1/custody/approvers",
  kind: "server",
  startedAt: since,
  endedAt: now,
  attributes: { "http.route": "/v1/custody/approvers", "http.response.status_code": 503, ratio: 0.5 },
  link: { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" },
  isError: true,
};
const below = (name: string, kind: Span["kind"], spanId: string): Span => ({
  traceId,
  spanId,
  parentSpanId: root.spanId,
  name,
  kind,
  startedAt: since,
  endedAt: now,
  attributes: {},
});

const flushes: MetricFamily = {
  name: "custody_flush_seconds",
  help: "Flushes.",
  type: "histogram",
  points: [
    { name: "custody_flush_seconds_bucket", labels: { le: 0.1, disk: "a" }, value: 2 },
    { name: "custody_flush_seconds_bucket", labels: { le: 1, disk: "a" }, value: 3 },
    { name: "custody_flush_seconds_bucket", labels: { le: "+Inf", disk: "a" }, value: 4 },
    { name: "custody_flush_seconds_sum", labels: { disk: "a" }, value: 9.5 },
    { name: "custody_flush_seconds_count", labels: { disk: "a" }, value: 4 },
  ],
};

const metric = (type: "counter" | "gauge", name: string, help: string, value: number, labels = {}): MetricFamily => ({
  name,
  help,
  type,
  points: [{ name, labels, value }],
});

describe("OTLP in JSON", () => {
  it("has spans as OpenTelemetry's own library writes them", () => {
    const spans = [
      root,
      below("message Prepare", "consumer", "00f067aa0ba902b8"),
      below("flush commit", "internal", "00f067aa0ba902b9"),
    ];
    expect(reference.traces).toMatchObject(JSON.parse(tracesJson(resource, spans)));
    expect(reference.traces).not.toMatchObject(JSON.parse(tracesJson(resource, [root])));
  });

  it("has metrics as OpenTelemetry's own library writes them", () => {
    const families = [
      metric("counter", "custody_problems_total", "Refusals.", 3, { code: "SEALED" }),
      metric("gauge", "custody_http_body_bytes", "Bodies.", 0.5),
      flushes,
    ];
    expect(reference.metrics).toMatchObject(JSON.parse(metricsJson(resource, families, { since, now })));
  });

  it("keeps sets of labels apart, and leaves out what is no number", () => {
    const other = flushes.points.map((point) => ({ ...point, labels: { ...point.labels, disk: "b" }, value: 0 }));
    const families = [
      { ...flushes, points: [...flushes.points, ...other] },
      metric("gauge", "nodejs_eventloop_lag_mean_seconds", "", Number.NaN),
    ];
    const [histogram, gauge] = JSON.parse(metricsJson(resource, families, { since, now })).resourceMetrics[0]
      .scopeMetrics[0].metrics;
    expect(histogram.histogram.dataPoints.map(({ bucketCounts }: { bucketCounts: unknown }) => bucketCounts)).toEqual([
      [2, 1, 1],
      [0, 0, 0],
    ]);
    expect(gauge.gauge.dataPoints).toEqual([]);
  });
});
