/** A listener for scrapers alone, so that none needs a token or a peer's certificate. Plain `node:http`. */
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { Effect } from "effect";
import type { Scope } from "effect/Scope";
import type { Config } from "../config/ConfigSchema.ts";
import { closeSoon } from "../net/CloseSoon.ts";
import type { ConnectionGuard } from "../net/ConnectionGuard.ts";
import { timeoutsOf } from "../net/ConnectionLimits.ts";
import type { ListenerTls } from "../tls/TlsMaterial.ts";
import { closeListener, listen } from "./Listening.ts";
import type { Log } from "./Log.ts";
import type { StartError } from "./StartError.ts";

export const METRICS_PATH = "/metrics";
/** Of the text format of Prometheus. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** What a scraper reads; undefined where something that is measured failed. */
export type Scrape = () => Promise<string | undefined>;

/** A scrape that never rejects: a reading that fails costs the scraper its answer, and this peer nothing. */
export const scrapeOf =
  (render: () => Promise<string>, log: Pick<Log, "error">): Scrape =>
  async () => {
    try {
      return await render();
    } catch (fault) {
      log.error("metrics", { reason: fault instanceof Error ? fault.message : "an unknown fault" });
      return undefined;
    }
  };

/** Told where {@link Scrape} has nothing. */
export const UNMEASURED = "A reading failed; the log of this peer has the reason.";

const titles: Readonly<Record<number, string>> = {
  404: "Not found",
  405: "Method not allowed",
  500: "Internal error",
};

const makeListener = (scrape: Scrape, tls: ListenerTls | undefined, guard: ConnectionGuard): Server => {
  const refuse = (
    response: ServerResponse,
    status: number,
    detail: string,
    more: Record<string, string> = {},
  ): void => {
    const body = JSON.stringify({ title: titles[status], status, detail });
    response
      .writeHead(status, {
        "content-type": "application/problem+json",
        "content-length": Buffer.byteLength(body),
        ...more,
      })
      .end(body);
  };
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.url !== METRICS_PATH) return refuse(response, 404, `There is nothing here but ${METRICS_PATH}.`);
    if (request.method !== "GET" && request.method !== "HEAD")
      return refuse(response, 405, "Metrics are only read.", { allow: "GET, HEAD" });
    void scrape().then((text) => {
      if (text === undefined) return refuse(response, 500, UNMEASURED);
      response.writeHead(200, { "content-type": METRICS_TYPE, "content-length": Buffer.byteLength(text) });
      response.end(text);
    });
  };
  const options = { ...timeoutsOf(guard.limits), maxHeaderSize: 8 * 1024 };
  const server = tls === undefined ? createHttpServer(options) : createHttpsServer({ ...options, ...tls });
  guard.watch(server);
  server.on("request", guard.bounded(handle));
  server.on("clientError", (_error, socket) => {
    if (guard.isBusy(socket) || !guard.speaks(socket) || !socket.writable) return void socket.destroy();
    return closeSoon(socket, "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
  });
  return server;
};

export interface OpenedMetrics {
  readonly url: string;
  readonly server: Server;
}

/** Listens until the scope closes; undefined where the configuration has no `metrics`. */
export const openMetrics = (
  { metrics: at }: Pick<Config, "metrics">,
  tls: ListenerTls | undefined,
  guard: ConnectionGuard,
  scrape: Scrape,
): Effect.Effect<OpenedMetrics | undefined, StartError, Scope> =>
  Effect.gen(function* () {
    if (at === undefined) return undefined;
    const guarded = { server: makeListener(scrape, tls, guard), guard };
    const url = yield* Effect.acquireRelease(listen("metrics", at, guarded), () => closeListener(guarded, 0));
    return { url, server: guarded.server };
  });
