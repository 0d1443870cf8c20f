/** What one peer counts and measures, in the text format of Prometheus. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, type MetricValueWithName, Registry } from "prom-client";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { FlushTimes } from "./FlushTimes.ts";
import { type CounterName, counters, type GaugeName, gauges, histograms } from "./MetricNames.ts";

export interface MemberReading {
  readonly peerId: PeerId;
  /** Undefined before the first message to it. */
  readonly reachable: boolean | undefined;
  /** How far its clock was ahead, in milliseconds; undefined before it has answered a probe. */
  readonly clockAheadMillis: number | undefined;
}

/** Values measured on demand. */
export interface Readings {
  readonly state: PeerState;
  readonly version: string;
  readonly hasTokenKeys: boolean;
  /** The other peers. */
  readonly members: ReadonlyArray<MemberReading>;
  readonly certificates: ReadonlyArray<{ readonly listener: string; readonly expiresAt: number }>;
  /** Events that wait for the one under way. */
  readonly backlog: number;
  readonly bodyBytes: number;
  readonly peerBodyBytes: number;
  readonly connections: number;
  readonly peerConnections: number;
  /** Durable events that the slowest sink of the audit has not written. */
  readonly auditBehind: number;
}

/** One metric as it is documented. */
export interface MetricEntry {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly labels: ReadonlyArray<string>;
  readonly help: string;
}

/** One value of a metric; of a histogram one of its buckets, its sum or its count, as the name says. */
export interface MetricPoint {
  readonly name: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** One metric as it stands. */
export interface MetricFamily extends Omit<MetricEntry, "labels"> {
  readonly points: ReadonlyArray<MetricPoint>;
}

const bit = (value: boolean): number => (value ? 1 : 0);

type Reading = readonly [name: GaugeName, value: number, labels?: Readonly<Record<string, string>>];

const readingsOf = (readings: Readings): ReadonlyArray<Reading> => {
  const { state, version, members, certificates } = readings;
  const { requests, undecided, signed } = state;
  return [
    ["custody_build_info", 1, { version, node: process.versions.node }],
    ["custody_unsealed", bit(state.fitness.unsealed)],
    ["custody_integrity_ok", bit(state.fitness.integrityFault === undefined)],
    ["custody_token_keys_ok", bit(readings.hasTokenKeys)],
    ["custody_epoch", state.cluster.membership?.topology.epoch ?? 0],
    ["custody_incarnation", signed.chain.incarnation],
    ["custody_backlog_events", readings.backlog],
    ["custody_uncommitted", undecided.preparations.size],
    ["custody_locks", undecided.locks.size],
    ["custody_outbox", undecided.outbox.size],
    ["custody_waiting_requests", requests.queue.length + requests.entering.length + requests.awaited.size],
    ["custody_approvers", state.registry.approvers],
    ["custody_last_decided_slot", undecided.decidedSeq],
    ["custody_audit_sequence", signed.audit.seq],
    ["custody_audit_behind_events", readings.auditBehind],
    ["custody_http_body_bytes", readings.bodyBytes],
    ["custody_peer_http_body_bytes", readings.peerBodyBytes],
    ["custody_http_connections", readings.connections],
    ["custody_peer_http_connections", readings.peerConnections],
    ...members.flatMap(({ peerId, reachable, clockAheadMillis }): ReadonlyArray<Reading> => {
      const peer = String(peerId);
      return [
        ...(reachable === undefined ? [] : [["custody_member_reachable", bit(reachable), { peer }] as const]),
        ...(clockAheadMillis === undefined
          ? []
          : [["custody_member_clock_difference_seconds", clockAheadMillis / 1000, { peer }] as const]),
      ];
    }),
    ...certificates.map(
      ({ listener, expiresAt }): Reading => [
        "custody_certificate_expiry_timestamp_seconds",
        expiresAt / 1000,
        { listener },
      ],
    ),
  ];
};

/** What Node and the system say of this process: one for all peers in it, as its watchers cannot be taken away. */
let ofProcess: Registry | undefined;
const processRegistry = (): Registry => {
  if (ofProcess !== undefined) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  return ofProcess;
};

/** The library's type of it says a number where there is a word. */
const typeOf = (type: unknown): MetricEntry["type"] => {
  const kind = String(type);
  return kind === "counter" || kind === "histogram" ? kind : "gauge";
};

const familiesOf = async (registry: Registry): Promise<ReadonlyArray<MetricFamily>> => {
  const families = await registry.getMetricsAsJSON();
  return families.map(({ name, help, type, values }) => ({
    name,
    help,
    type: typeOf(type),
    points: values.map((value: MetricValueWithName<string>): MetricPoint => {
      const labels = Object.entries(value.labels).flatMap(([label, of]) => (of === undefined ? [] : [[label, of]]));
      return { name: value.metricName ?? name, labels: Object.fromEntries(labels), value: value.value };
    }),
  }));
};

export class Metrics {
  readonly #registry = new Registry();
  readonly #counters = new Map(
    Object.entries(counters).map(([name, { help, labels }]) => [
      name,
      new Counter({ name, help, labelNames: labels, registers: [this.#registry] }),
    ]),
  );
  readonly #gauges = new Map(
    Object.entries(gauges).map(([name, { help, labels }]) => [
      name,
      new Gauge({ name, help, labelNames: [...labels], registers: [this.#registry] }),
    ]),
  );
  readonly #flushes = this.#histogram("custody_flush_seconds");
  readonly #requests = this.#histogram("custody_http_request_seconds");
  /** Of late, for those who ask one peer. */
  readonly flushTimes = new FlushTimes();

  #histogram(name: keyof typeof histograms): Histogram {
    const { help, labels, buckets } = histograms[name];
    return new Histogram({ name, help, labelNames: labels, buckets: [...buckets], registers: [this.#registry] });
  }

  /** Counts one, under a value for each of the family's labels. */
  count(name: CounterName, ...values: ReadonlyArray<string>): void {
    this.#counters
      .get(name)
      ?.inc(Object.fromEntries(counters[name].labels.map((label, at) => [label, values[at] ?? ""])));
  }

  observeFlush(millis: number): void {
    this.#flushes.observe(millis / 1000);
    this.flushTimes.add(millis);
  }

  /** @param route its name, never the path that a caller chose */
  observeRequest(route: string, method: string, status: number, millis: number): void {
    this.#requests.observe({ route, method, status: String(status) }, millis / 1000);
  }

  #read(readings: Readings): void {
    for (const gauge of this.#gauges.values()) gauge.reset();
    for (const [name, value, labels = {}] of readingsOf(readings)) this.#gauges.get(name)?.set(labels, value);
  }

  /** The same metrics as {@link render}, for those who write them in another format. */
  async families(readings: Readings): Promise<ReadonlyArray<MetricFamily>> {
    this.#read(readings);
    return [...(await familiesOf(this.#registry)), ...(await familiesOf(processRegistry()))];
  }

  async render(readings: Readings): Promise<string> {
    this.#read(readings);
    return `${await this.#registry.metrics()}${await processRegistry().metrics()}`;
  }
}

/** Every metric that {@link Metrics.render} may show, ours first, each group by name. */
export const metricEntries = async (): Promise<ReadonlyArray<MetricEntry>> => {
  const listed = (
    type: MetricEntry["type"],
    families: Readonly<Record<string, Pick<MetricEntry, "help" | "labels">>>,
  ) => Object.entries(families).map(([name, { help, labels }]): MetricEntry => ({ name, type, labels, help }));
  const own = [...listed("counter", counters), ...listed("gauge", gauges), ...listed("histogram", histograms)];
  const process = (await familiesOf(processRegistry())).map(({ name, help, type }): MetricEntry => {
    return { name, help, labels: [], type };
  });
  const sorted = (entries: ReadonlyArray<MetricEntry>) =>
    entries.toSorted((left, right) => (left.name < right.name ? -1 : 1));
  return [...sorted(own), ...sorted(process)];
};
