/** Every metric of a peer, with the text that explains it: what `custody metrics` prints and a scraper reads. */

interface Family {
  readonly help: string;
  readonly labels: ReadonlyArray<string>;
}
type Families = { readonly [name: string]: Family };

/** Why connections are cut off, and what helps. */
const cuts =
  "tooMany and tooManyOfOneAddress (limits.connections, limits.connections-per-address; raise the latter behind a proxy; members have their own), handshake (over 10 s), slowRequest, slowReader, tooManyRequests (limits.requests-per-connection), notAccepted (the system lacks files)";

export const counters = {
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
  custody_metrics_connections_cut_total: {
    help: "Connections the listener for metrics cut off, by reason, as the others do.",
    labels: ["reason"],
  },
  custody_events_total: { help: "Events handed to the protocol by kind.", labels: ["event"] },
  custody_messages_sent_total: { help: "Messages handed to the network by kind.", labels: ["message"] },
  custody_messages_dropped_total: { help: "Messages that were not delivered, by reason.", labels: ["reason"] },
  custody_audit_sink_failures_total: {
    help: "Times that a sink of the audit took nothing; custody status and the log say why.",
    labels: ["sink"],
  },
  custody_telemetry_failures_total: {
    help: "Times that the collector took no spans or no metrics; the log says why.",
    labels: ["signal"],
  },
  custody_spans_dropped_total: {
    help: "Spans that no collector gets: full (2,048 wait), refused by it, stopped (left at the end of this peer).",
    labels: ["reason"],
  },
  custody_clock_steps_total: { help: "Times that the wall clock was seen to be set.", labels: ["direction"] },
} as const satisfies Families;

export const gauges = {
  custody_build_info: { help: "1, with the versions of this program and of Node.", labels: ["version", "node"] },
  custody_unsealed: { help: "1 while this peer is unsealed.", labels: [] },
  custody_integrity_ok: { help: "0 when stored rows do not hold.", labels: [] },
  custody_token_keys_ok: { help: "0 while there are no keys to verify tokens with.", labels: [] },
  custody_epoch: { help: "The epoch of the topology; 0 before the founding.", labels: [] },
  custody_incarnation: { help: "This peer's incarnation, which a declared restore raises.", labels: [] },
  custody_backlog_events: { help: "Events that wait for the one under way.", labels: [] },
  custody_uncommitted: { help: "Prepared and undecided proposals.", labels: [] },
  custody_locks: { help: "Locks held.", labels: [] },
  custody_outbox: { help: "Applied proposals not yet acknowledged by all.", labels: [] },
  custody_waiting_requests: { help: "Requests waiting here.", labels: [] },
  custody_approvers: { help: "Approver versions stored.", labels: [] },
  custody_last_decided_slot: { help: "The highest decided slot.", labels: [] },
  custody_audit_sequence: { help: "The number of the newest row of this peer's audit.", labels: [] },
  custody_audit_behind_events: {
    help: "Audit events that the slowest sink has not written; 0 without sinks.",
    labels: [],
  },
  custody_member_reachable: {
    help: "1 when the last message to another peer got an answer, 0 when not; absent before the first.",
    labels: ["peer"],
  },
  custody_member_clock_difference_seconds: {
    help: "How far another peer's clock was ahead of this one's at its last answer to a probe, delays included.",
    labels: ["peer"],
  },
  custody_certificate_expiry_timestamp_seconds: {
    help: "When the certificate in use at a listener ends, in Unix seconds.",
    labels: ["listener"],
  },
  custody_http_body_bytes: { help: "Request bodies held by the public API.", labels: [] },
  custody_peer_http_body_bytes: { help: "Request bodies held by the peer API.", labels: [] },
  custody_http_connections: { help: "Open connections of the public API.", labels: [] },
  custody_peer_http_connections: { help: "Open connections of the peer API.", labels: [] },
} as const satisfies Families;

export const histograms = {
  custody_flush_seconds: {
    help: "Time from handing over a transaction to its flush.",
    labels: [],
    // From a fast local disk to a sick one.
    buckets: [0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
  },
  custody_http_request_seconds: {
    help: "Time from the header of a request to the public API to its answer, its wait for a turn included, by route, method and status.",
    labels: ["route", "method", "status"],
    // From a read to the longest answer-timeout.
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
  },
} as const;

export type CounterName = keyof typeof counters;
export type GaugeName = keyof typeof gauges;
