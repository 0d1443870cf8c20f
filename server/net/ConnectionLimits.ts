/** The bounds of a listener's connections: how many of them, and how long each part of an exchange may take. */
import type { ServerOptions } from "node:http";
import type { Config } from "../config/ConfigSchema.ts";

export interface ConnectionLimits {
  /** Connections of callers that are not authenticated yet. */
  readonly connections: number;
  /** Of those, from one address; IPv6 addresses count by their network of 64 bits, which is what one host can have. */
  readonly connectionsPerAddress: number;
  /** Connections of authenticated callers, counted separately so that the others cannot keep them out. */
  readonly provenConnections: number;
  /** Requests of one connection that are not answered yet. */
  readonly requestsUnderWay: number;
  /** From the connection to the end of the TLS handshake. */
  readonly handshakeMillis: number;
  /** From the first byte of a request, or the connection, to the end of its header. */
  readonly headerMillis: number;
  /** To the end of its body, answered or not. */
  readonly requestMillis: number;
  /** From an answer until it is read. */
  readonly writeMillis: number;
  /** Between two requests. */
  readonly idleMillis: number;
}

const HANDSHAKE_MILLIS = 10_000;
const HEADER_MILLIS = 10_000;
/** Longer than any handler waits for a body: this one ends connections whose answer was given long ago. */
const REQUEST_MILLIS = 20_000;
const CHECK_MILLIS = 1_000;
/** Longer than any pause of a busy cluster, so that callers are the ones who close idle connections. */
const PEER_IDLE_MILLIS = 75_000;

/** Connections a peer opens to one other at most; see `linkLimits`. */
const LINK_CONNECTIONS = 16;
/** Connections of the listener for metrics. */
const SCRAPERS = 16;
/** Database, log, certificates, key sets and what the platform opens. */
const OTHER_FILES = 128;
/** With fewer than this no caller could be served. */
const FEWEST_CONNECTIONS = 32;

/** The connections of the members: those of a peer that was restarted may still be open when it opens new ones. */
const memberConnections = ({ cluster }: Config): number => 2 * LINK_CONNECTIONS * Math.max(1, cluster.peers.length);

/** Files this process needs open when every bound of its configuration is reached. */
export const filesNeeded = (config: Config): number =>
  2 * config.limits.connections +
  2 * memberConnections(config) +
  LINK_CONNECTIONS * config.cluster.peers.length +
  SCRAPERS +
  OTHER_FILES;

/** The connections each listener may have so that the process never comes to its limit of open files. */
const affordable = (config: Config, mostFiles: number): number => {
  const { connections } = config.limits;
  const missing = filesNeeded(config) - mostFiles;
  return missing <= 0
    ? connections
    : Math.min(connections, Math.max(FEWEST_CONNECTIONS, connections - Math.ceil(missing / 2)));
};

/**
 * The bounds of all listeners.
 *
 * @param mostFiles files this process may have open; fewer than {@link filesNeeded} lower the number of connections
 */
export const connectionLimits = (
  config: Config,
  mostFiles: number,
): { readonly [L in "http" | "peerHttp" | "metrics"]: ConnectionLimits } => {
  const { connectionsPerAddress, requestsPerConnection, writeTimeoutMillis, idleTimeoutMillis } = config.limits;
  const connections = affordable(config, mostFiles);
  const http: ConnectionLimits = {
    connections,
    connectionsPerAddress: Math.min(connectionsPerAddress, connections),
    provenConnections: memberConnections(config),
    requestsUnderWay: requestsPerConnection,
    handshakeMillis: HANDSHAKE_MILLIS,
    headerMillis: HEADER_MILLIS,
    requestMillis: REQUEST_MILLIS,
    writeMillis: writeTimeoutMillis,
    idleMillis: idleTimeoutMillis,
  };
  const metrics = {
    ...http,
    connections: SCRAPERS,
    connectionsPerAddress: SCRAPERS,
    provenConnections: 0,
    requestsUnderWay: 1,
  };
  return { http, peerHttp: { ...http, idleMillis: PEER_IDLE_MILLIS }, metrics };
};

/** The limits that Node's HTTP server enforces itself. */
export const timeoutsOf = ({ headerMillis, requestMillis, idleMillis }: ConnectionLimits): ServerOptions => ({
  headersTimeout: headerMillis,
  requestTimeout: requestMillis,
  keepAliveTimeout: idleMillis,
  connectionsCheckingInterval: Math.min(CHECK_MILLIS, headerMillis),
});
