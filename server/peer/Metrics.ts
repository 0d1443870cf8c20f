/** Counters of one peer in the Prometheus text format, version 0.0.4. */
import type { PeerState } from "../../core/PeerState.ts";

/** Upper bounds of the flush histogram, in seconds: from a fast local disk to a sick one. */
const flushBounds = [0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

interface Family {
  readonly help: string;
  readonly labels: ReadonlyArray<string>;
}

const families = {
  custody_http_responses_total: { help: "Answers of the public API by status.", labels: ["status"] },
  custody_problems_total: { help: "Refusals of the public API by code.", labels: ["code"] },
  custody_operator_calls_total: { help: "Calls that change a peer, by call and outcome.", labels: ["call", "outcome"] },
  custody_peer_http_responses_total: { help: "Answers of the peer API by status.", labels: ["status"] },
  custody_http_connections_cut_total: { help: "Connections the public API cut off, by reason.", labels: ["reason"] },
  custody_peer_http_connections_cut_total: { help: "Connections the peer API cut off, by reason.", labels: ["reason"] },
  custody_events_total: { help: "Events handed to the protocol by kind.", labels: ["event"] },
  custody_messages_sent_total: { help: "Messages handed to the network by kind.", labels: ["message"] },
  custody_messages_dropped_total: { help: "Messages that were not delivered, by reason.", labels: ["reason"] },
  custody_clock_steps_total: { help: "Times that the wall clock was seen to be set.", labels: ["direction"] },
} as const satisfies { readonly [name: string]: Family };
export type CounterName = keyof typeof families;

/** What is measured when somebody asks. */
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
  readonly #counters = new Map<CounterName, Map<string, number>>();
  readonly #buckets: Array<number> = flushBounds.map(() => 0);
  #flushes = 0;
  #flushSeconds = 0;

  /** Counts one, under a value for each of the family's labels. */
  count(name: CounterName, ...values: ReadonlyArray<string>): void {
    const label = values.join(" ");
    let counter = this.#counters.get(name);
    if (counter === undefined) {
      counter = new Map();
      this.#counters.set(name, counter);
    }
    counter.set(label, (counter.get(label) ?? 0) + 1);
  }

  observeFlush(millis: number): void {
    const seconds = millis / 1000;
    this.#flushes += 1;
    this.#flushSeconds += seconds;
    const bucket = flushBounds.findIndex((bound) => seconds <= bound);
    if (bucket !== -1) this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
  }

  render({ state, backlog, bodyBytes, peerBodyBytes, connections, peerConnections }: Gauges): string {
    const gauges: ReadonlyArray<readonly [string, string, number]> = [
      ["custody_unsealed", "1 while this peer is unsealed.", state.unsealed ? 1 : 0],
      ["custody_integrity_ok", "0 when stored rows do not hold.", state.integrityFault === undefined ? 1 : 0],
      ["custody_backlog_events", "Events that wait for the one under way.", backlog],
      ["custody_uncommitted", "Prepared and undecided proposals.", state.preparations.size],
      ["custody_locks", "Locks held.", state.locks.size],
      ["custody_outbox", "Applied proposals not yet acknowledged by all.", state.outbox.size],
      [
        "custody_waiting_requests",
        "Requests waiting here.",
        state.queue.length + state.entering.length + state.awaited.size,
      ],
      ["custody_approvers", "Approver versions stored.", state.registry.approvers],
      ["custody_last_decided_slot", "The highest decided slot.", state.decidedSeq],
      ["custody_http_body_bytes", "Request bodies held by the public API.", bodyBytes],
      ["custody_peer_http_body_bytes", "Request bodies held by the peer API.", peerBodyBytes],
      ["custody_http_connections", "Open connections of the public API.", connections],
      ["custody_peer_http_connections", "Open connections of the peer API.", peerConnections],
    ];
    return [
      ...Object.entries(families).flatMap(([name, { help, labels }]) => [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} counter`,
        ...this.#samples(name, labels),
      ]),
      ...this.#histogram(),
      ...gauges.flatMap(([name, help, value]) => [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} gauge`,
        `${name} ${value}`,
      ]),
      "",
    ].join("\n");
  }

  /** Label values are statuses and names of this program: none needs escaping, and where a family has two none has a space. */
  #samples(name: string, labels: ReadonlyArray<string>): ReadonlyArray<string> {
    const counter = [...this.#counters].find(([each]) => each === name)?.[1] ?? new Map<string, number>();
    return [...counter].toSorted().map(([joined, count]) => {
      const values = labels.length === 1 ? [joined] : joined.split(" ");
      return `${name}{${labels.map((label, index) => `${label}="${values[index]}"`).join(",")}} ${count}`;
    });
  }

  #histogram(): ReadonlyArray<string> {
    const name = "custody_flush_seconds";
    let below = 0;
    return [
      `# HELP ${name} Time from handing over a transaction to its flush.`,
      `# TYPE ${name} histogram`,
      ...flushBounds.map((bound, index) => {
        below += this.#buckets[index] ?? 0;
        return `${name}_bucket{le="${bound}"} ${below}`;
      }),
      `${name}_bucket{le="+Inf"} ${this.#flushes}`,
      `${name}_sum ${this.#flushSeconds}`,
      `${name}_count ${this.#flushes}`,
    ];
  }
}
