/** Hands spans and metrics to a collector, one request at a time; the peer never waits for it. */
import type { Log } from "../peer/Log.ts";
import type { MetricFamily, Metrics } from "../peer/Metrics.ts";
import type { Delivery, Send, Signal } from "./Collector.ts";
import { metricsJson, tracesJson } from "./OtlpJson.ts";
import type { Attributes, Span } from "./Span.ts";

/** Spans that wait, beyond which new ones are dropped. */
export const MOST_WAITING = 2048;
/** Spans in one request. */
export const MOST_SENT = 512;

/** Reads all metrics. */
export type Measure = () => Promise<ReadonlyArray<MetricFamily>>;

interface ExporterPorts {
  readonly send: Send;
  /** Who sends, as known by now. */
  readonly resource: () => Attributes;
  readonly metrics: Pick<Metrics, "count">;
  readonly log: Pick<Log, "warn" | "info">;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export class Exporter {
  readonly #ports: ExporterPorts;
  readonly #since: number;
  readonly #failing = new Set<Signal>();
  #waiting: Array<Span> = [];
  #measure: Measure | undefined;
  /** Resolves, and never rejects, when what is being sent is done with. */
  #underWay: Promise<void> | undefined;

  constructor(ports: ExporterPorts) {
    this.#ports = ports;
    this.#since = ports.now();
  }

  /** Where metrics come from, as soon as all that they tell of is there. */
  measureWith(measure: Measure): void {
    this.#measure = measure;
  }

  /** Takes a span in; a full batch is sent at once, unless the collector fails. */
  push(span: Span): void {
    if (this.#waiting.length >= MOST_WAITING) return this.#dropped(1, "full");
    this.#waiting.push(span);
    if (this.#waiting.length >= MOST_SENT && this.#underWay === undefined && !this.#failing.has("traces"))
      this.#run(() => this.#sendSpans());
  }

  /** Sends what there is; nothing while an earlier one is still under way. */
  export(): Promise<void> {
    return (
      this.#underWay ??
      this.#run(async () => {
        await this.#sendSpans();
        await this.#sendMetrics();
      })
    );
  }

  /** The last one: waits for the one under way, and sends what is left. Whatever then still waits is counted. */
  async finish(): Promise<void> {
    await this.#underWay;
    if (!this.#failing.has("traces")) await this.export();
  }

  /** Counts what will not be sent any more. */
  abandon(): void {
    this.#dropped(this.#waiting.splice(0).length, "stopped");
  }

  #run(work: () => Promise<void>): Promise<void> {
    const underWay = work()
      .catch((fault: unknown) => this.#failed("metrics", fault instanceof Error ? fault.message : "an unknown fault"))
      .finally(() => {
        this.#underWay = undefined;
      });
    this.#underWay = underWay;
    return underWay;
  }

  async #sendSpans(): Promise<void> {
    for (let left = MOST_WAITING / MOST_SENT; left > 0 && this.#waiting.length > 0; left -= 1) {
      const batch = this.#waiting.slice(0, MOST_SENT);
      const delivery = await this.#ports.send("traces", tracesJson(this.#ports.resource(), batch));
      this.#judge("traces", delivery);
      // Those of a failed request stay where they are, for the next one.
      if (delivery._tag === "Failed") return;
      this.#waiting.splice(0, batch.length);
      if (delivery._tag === "Refused") this.#dropped(batch.length, "refused");
    }
  }

  /** What counters came to is in the next request too. */
  async #sendMetrics(): Promise<void> {
    if (this.#measure === undefined) return;
    const families = await this.#measure();
    const time = { since: this.#since, now: this.#ports.now() };
    this.#judge("metrics", await this.#ports.send("metrics", metricsJson(this.#ports.resource(), families, time)));
  }

  #judge(signal: Signal, delivery: Delivery): void {
    if (delivery._tag !== "Taken") return this.#failed(signal, delivery.reason);
    if (this.#failing.delete(signal)) this.#ports.log.info("telemetry is taken again", { signal });
  }

  /** One line for each outage, however long. */
  #failed(signal: Signal, reason: string): void {
    this.#ports.metrics.count("custody_telemetry_failures_total", signal);
    if (this.#failing.has(signal)) return;
    this.#failing.add(signal);
    this.#ports.log.warn("telemetry is not taken", { signal, reason });
  }

  #dropped(spans: number, reason: "full" | "refused" | "stopped"): void {
    for (let left = spans; left > 0; left -= 1) this.#ports.metrics.count("custody_spans_dropped_total", reason);
  }
}
