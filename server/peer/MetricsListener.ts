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
import type { StartError } from "./StartError.ts";

export const METRICS_PATH = "/metrics";
/** Of the text format of Prometheus. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const makeListener = (render: () => Promise<string>, tls: ListenerTls | undefined, guard: ConnectionGuard): Server => {
  const refuse = (
    response: ServerResponse,
    status: number,
    detail: string,
    more: Record<string, string> = {},
  ): void => {
    const body = JSON.stringify({ title: status === 404 ? "Not found" : "Method not allowed", status, detail });
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
    void render().then((text) => {
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
  { metrics: at }: Config,
  tls: ListenerTls | undefined,
  guard: ConnectionGuard,
  render: () => Promise<string>,
): Effect.Effect<OpenedMetrics | undefined, StartError, Scope> =>
  Effect.gen(function* () {
    if (at === undefined) return undefined;
    const guarded = { server: makeListener(render, tls, guard), guard };
    const url = yield* Effect.acquireRelease(listen("metrics", at, guarded), () => closeListener(guarded, 0));
    return { url, server: guarded.server };
  });
