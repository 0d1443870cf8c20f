/** What one peer counts and measures, in the text format of Prometheus. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { FlushTimes } from "./FlushTimes.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";

/** Upper bounds of the flush histogram, in seconds: from a fast local disk to a sick one. */
const flushBounds = [0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

interface Family {
  readonly help: string;
  readonly labels: ReadonlyArray<string>;
}

/** Why connections are cut off, and what helps. */
const cuts =
  "tooMany and tooManyOfOneAddress (limits.connections, limits.connections-per-address; raise the latter behind a proxy; members have their own), handshake (over 10 s), slowRequest, slowReader, tooManyRequests (limits.requests-per-connection), notAccepted (the system lacks files)";

const families = {
  custody_http_responses_total: { help: "Answers of the public API by status.", labels: ["status"] },
  custody_problems_total: { help: "Refusals of the public API by code.", labels: ["code"] },
  custody_operator_calls_total: { help: "Calls that change a peer, by call and outcome.", labels: ["call", "outcome"] },
  custody_peer_http_responses_total: { help: "Answers of the peer API by status.", labels: ["status"] },
  custody_http_connections_cut_total: {
    help: `Connections the public API cut off, by reason: ${cuts}.`,
    labels: ["reason"],
  },
  custody_peer_http_connections_cut_total: {
    help: `Connections the peer API cut off, by reason: ${cuts}.`,
    labels: ["reason"],
  },
  custody_events_total: { help: "Events handed to the protocol by kind.", labels: ["event"] },
  custody_messages_sent_total: { help: "Messages handed to the network by kind.", labels: ["message"] },
  custody_messages_dropped_total: { help: "Messages that were not delivered, by reason.", labels: ["reason"] },
  custody_clock_steps_total: { help: "Times that the wall clock was seen to be set.", labels: ["direction"] },
} as const satisfies { readonly [name: string]: Family };
export type CounterName = keyof typeof families;

/** Values measured on demand. */
export interface Gauges {
  readonly state: PeerState;
  /** Events that wait for the one under way. */
  readonly backlog: number;
  readonly bodyBytes: number;
  readonly peerBodyBytes: number;
  readonly connections: number;
  readonly peerConnections: number;
}

export class Metrics {
  readonly #registry = new Registry();
  readonly #counters = new Map(
    Object.entries(families).map(([name, { help, labels }]) => [
      name,
      new Counter({ name, help, labelNames: labels, registers: [this.#registry] }),
    ]),
  );
  readonly #flushes = new Histogram({
    name: "custody_flush_seconds",
    help: "Time from handing over a transaction to its flush.",
    buckets: flushBounds,
    registers: [this.#registry],
  });

  /** Of late, for those who ask one peer. */
  readonly flushTimes = new FlushTimes();

  /** Counts one, under a value for each of the family's labels. */
  count(name: CounterName, ...values: ReadonlyArray<string>): void {
    this.#counters
      .get(name)
      ?.inc(Object.fromEntries(families[name].labels.map((label, at) => [label, values[at] ?? ""])));
  }

  observeFlush(millis: number): void {
    this.#flushes.observe(millis / 1000);
    this.flushTimes.add(millis);
  }

  async render({ state, backlog, bodyBytes, peerBodyBytes, connections, peerConnections }: Gauges): Promise<string> {
    const waiting = state.requests.queue.length + state.requests.entering.length + state.requests.awaited.size;
    const gauges: ReadonlyArray<readonly [string, string, number]> = [
      ["custody_unsealed", "1 while this peer is unsealed.", state.fitness.unsealed ? 1 : 0],
      ["custody_integrity_ok", "0 when stored rows do not hold.", state.fitness.integrityFault === undefined ? 1 : 0],
      ["custody_backlog_events", "Events that wait for the one under way.", backlog],
      ["custody_uncommitted", "Prepared and undecided proposals.", state.undecided.preparations.size],
      ["custody_locks", "Locks held.", state.undecided.locks.size],
      ["custody_outbox", "Applied proposals not yet acknowledged by all.", state.undecided.outbox.size],
      ["custody_waiting_requests", "Requests waiting here.", waiting],
      ["custody_approvers", "Approver versions stored.", state.registry.approvers],
      ["custody_last_decided_slot", "The highest decided slot.", state.undecided.decidedSeq],
      ["custody_http_body_bytes", "Request bodies held by the public API.", bodyBytes],
      ["custody_peer_http_body_bytes", "Request bodies held by the peer API.", peerBodyBytes],
      ["custody_http_connections", "Open connections of the public API.", connections],
      ["custody_peer_http_connections", "Open connections of the peer API.", peerConnections],
    ];
    const measured = new Registry();
    for (const [name, help, value] of gauges) new Gauge({ name, help, registers: [measured] }).set(value);
    return `${await this.#registry.metrics()}${await measured.metrics()}`;
  }
}
