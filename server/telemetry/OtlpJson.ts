/**
 * Spans and metrics as OTLP 1 has them in JSON (opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding"): ids in
 * hexadecimal, times as decimal text, enumerations as numbers.
 */
import type { MetricFamily, MetricPoint } from "../peer/Metrics.ts";
import type { Attributes, Span } from "./Span.ts";

const SCOPE = { name: "custody" };
const CUMULATIVE = 2;
const STATUS_ERROR = 2;
const kinds: { readonly [K in Span["kind"]]: number } = { internal: 1, server: 2, consumer: 5 };

/** Microseconds are as many digits as the number holds. */
const nanos = (unixMillis: number): string => `${Math.round(unixMillis * 1000)}000`;

const attributesOf = (attributes: Attributes) =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value:
      typeof value === "string"
        ? { stringValue: value }
        : Number.isInteger(value)
          ? { intValue: value }
          : { doubleValue: value },
  }));

const resourceOf = (resource: Attributes) => ({ attributes: attributesOf(resource) });

const spanOf = ({ traceId, spanId, parentSpanId, name, kind, link, isError = false, ...span }: Span) => ({
  traceId,
  spanId,
  parentSpanId,
  name,
  kind: kinds[kind],
  startTimeUnixNano: nanos(span.startedAt),
  endTimeUnixNano: nanos(span.endedAt),
  attributes: attributesOf(span.attributes),
  links: link === undefined ? [] : [link],
  status: isError ? { code: STATUS_ERROR } : {},
});

/** The body of a request to `/v1/traces`. */
export const tracesJson = (resource: Attributes, spans: ReadonlyArray<Span>): string =>
  JSON.stringify({
    resourceSpans: [{ resource: resourceOf(resource), scopeSpans: [{ scope: SCOPE, spans: spans.map(spanOf) }] }],
  });

interface Times {
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
}

const numbersOf = (points: ReadonlyArray<MetricPoint>, times: Times) =>
  points
    // Of a gauge that has seen nothing yet; JSON has no such number.
    .filter(({ value }) => Number.isFinite(value))
    .map(({ labels, value }) => ({ ...times, attributes: attributesOf(labels), asDouble: value }));

/** The points of one histogram: those of each set of labels together, and buckets that do not count lower ones too. */
const histogramsOf = (points: ReadonlyArray<MetricPoint>, times: Times) => {
  const byLabels = new Map<string, { readonly labels: Attributes; readonly points: Array<MetricPoint> }>();
  for (const point of points) {
    const { le: _bound, ...labels } = point.labels;
    const key = JSON.stringify(Object.entries(labels).toSorted());
    const group = byLabels.get(key) ?? { labels, points: [] };
    byLabels.set(key, group);
    group.points.push(point);
  }
  return [...byLabels.values()].map(({ labels, points: group }) => {
    const valueOf = (part: string) => group.find(({ name }) => name.endsWith(part))?.value ?? 0;
    const buckets = group.filter(({ name }) => name.endsWith("_bucket")).map(({ value }) => value);
    const bounds = group.map(({ labels: { le } }) => Number(le)).filter((bound) => Number.isFinite(bound));
    return {
      ...times,
      attributes: attributesOf(labels),
      count: valueOf("_count"),
      sum: valueOf("_sum"),
      bucketCounts: buckets.map((value, index) => value - (buckets[index - 1] ?? 0)),
      explicitBounds: bounds,
    };
  });
};

/** Base units alone, which their names end in. */
const unitOf = (name: string): string => {
  const base = name.replace(/_total$/, "");
  return base.endsWith("_seconds") ? "s" : base.endsWith("_bytes") ? "By" : "";
};

const metricOf = ({ name, help, type, points }: MetricFamily, times: Times) => {
  const described = { name, description: help, unit: unitOf(name) };
  switch (type) {
    case "counter":
      return {
        ...described,
        sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints: numbersOf(points, times) },
      };
    case "gauge":
      return { ...described, gauge: { dataPoints: numbersOf(points, times) } };
    case "histogram":
      return {
        ...described,
        histogram: { aggregationTemporality: CUMULATIVE, dataPoints: histogramsOf(points, times) },
      };
  }
};

/**
 * The body of a request to `/v1/metrics`.
 *
 * @param since when counting began, in Unix milliseconds
 * @param now Unix milliseconds
 */
export const metricsJson = (
  resource: Attributes,
  families: ReadonlyArray<MetricFamily>,
  { since, now }: { readonly since: number; readonly now: number },
): string => {
  const times = { startTimeUnixNano: nanos(since), timeUnixNano: nanos(now) };
  const metrics = families.map((family) => metricOf(family, times));
  return JSON.stringify({
    resourceMetrics: [{ resource: resourceOf(resource), scopeMetrics: [{ scope: SCOPE, metrics }] }],
  });
};
