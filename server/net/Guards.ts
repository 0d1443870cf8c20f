/** The guards of all listeners, with the bounds that configuration and system allow. */
import type { Config } from "../config/ConfigSchema.ts";
import type { Log } from "../peer/Log.ts";
import type { Metrics } from "../peer/Metrics.ts";
import { ConnectionGuard } from "./ConnectionGuard.ts";
import { connectionLimits, filesNeeded } from "./ConnectionLimits.ts";
import { CutReport } from "./CutReport.ts";
import { mostOpenFiles } from "./FileLimit.ts";

export interface Guards {
  readonly http: ConnectionGuard;
  readonly peerHttp: ConnectionGuard;
  readonly metrics: ConnectionGuard;
}

export interface GuardPorts {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly elapsedMillis: () => number;
}

/** Says so when the system allows fewer open files than the configured bounds can need, and lowers the bounds. */
export const makeGuards = (
  config: Config,
  { log, metrics, elapsedMillis }: GuardPorts,
  mostFiles = mostOpenFiles(),
): Guards => {
  const limits = connectionLimits(config, mostFiles);
  const needed = filesNeeded(config);
  if (mostFiles < needed)
    log.warn("open files", {
      limit: mostFiles,
      needed,
      connections: limits.http.connections,
      reason: "the limit is lower than limits.connections can need, so each listener takes fewer; raise LimitNOFILE",
    });
  const http = new CutReport({
    listener: "http",
    log,
    count: (reason) => metrics.count("custody_http_connections_cut_total", reason),
  });
  const peerHttp = new CutReport({
    listener: "peer-http",
    log,
    count: (reason) => metrics.count("custody_peer_http_connections_cut_total", reason),
  });
  const ofMetrics = new CutReport({
    listener: "metrics",
    log,
    count: (reason) => metrics.count("custody_metrics_connections_cut_total", reason),
  });
  return {
    metrics: new ConnectionGuard(limits.metrics, ofMetrics.add, elapsedMillis),
    http: new ConnectionGuard(limits.http, http.add, elapsedMillis),
    peerHttp: new ConnectionGuard(limits.peerHttp, peerHttp.add, elapsedMillis),
  };
};
