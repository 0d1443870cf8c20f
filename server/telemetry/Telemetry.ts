/** Traces and metrics on their way to a collector, where the configuration names one. */
import { Effect } from "effect";
import type { Scope } from "effect/Scope";
import type { ConfigError } from "../config/ConfigError.ts";
import type { Config } from "../config/ConfigSchema.ts";
import type { Log } from "../peer/Log.ts";
import type { Metrics } from "../peer/Metrics.ts";
import { collectorAt } from "./Collector.ts";
import { loadCollectorHeaders } from "./CollectorHeaders.ts";
import { Exporter, type Measure } from "./Exporter.ts";
import { Traces } from "./Traces.ts";

/** How long the end of a peer waits for its collector. */
const CLOSING_MILLIS = 2_000;

interface TelemetryPorts {
  readonly version: string;
  /** This peer's id; undefined while it has none. */
  readonly self: () => number | undefined;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly now: () => number;
  readonly elapsedMillis: () => number;
  readonly closingMillis?: number;
}

export interface Telemetry {
  /** Undefined where only metrics are asked for. */
  readonly traces: Traces | undefined;
  /** Exports metrics from now on, where they are asked for. */
  readonly measureWith: (measure: Measure) => void;
}

/** Resolves with the promise, or after a while. */
const within = async (millis: number, work: Promise<void>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, millis);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
};

/**
 * Exports until the scope closes, which takes two seconds at most; undefined, and nothing is ever opened, where the
 * configuration has no `telemetry`. Fails where the file of header fields cannot be used; a collector that is away
 * fails nothing.
 */
export const openTelemetry = (
  { telemetry: settings }: Pick<Config, "telemetry">,
  { version, self, metrics, log, now, elapsedMillis, closingMillis = CLOSING_MILLIS }: TelemetryPorts,
): Effect.Effect<Telemetry | undefined, ConfigError, Scope> =>
  Effect.gen(function* () {
    if (settings === undefined) return undefined;
    const { otlpEndpoint: endpoint, headersFile, signals, samplingRatio: ratio, exportIntervalMillis } = settings;
    yield* loadCollectorHeaders(headersFile);
    const closing = new AbortController();
    const resource = () => {
      const id = self();
      return {
        "service.name": "custody",
        "service.version": version,
        ...(id === undefined ? {} : { "service.instance.id": String(id) }),
      };
    };
    const send = collectorAt({ endpoint, headersFile, closing: closing.signal });
    const exporter = new Exporter({ send, resource, metrics, log, now });
    const push: Exporter["push"] = (span) => exporter.push(span);
    yield* Effect.acquireRelease(
      Effect.sync(() => setInterval(() => void exporter.export(), exportIntervalMillis).unref()),
      (timer) =>
        Effect.promise(async () => {
          clearInterval(timer);
          await within(closingMillis, exporter.finish());
          closing.abort();
          exporter.abandon();
        }),
    );
    return {
      traces: signals.includes("traces") ? new Traces({ push, ratio, now, elapsedMillis }) : undefined,
      measureWith: (measure) => (signals.includes("metrics") ? exporter.measureWith(measure) : undefined),
    };
  });
