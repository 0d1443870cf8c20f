/** The listener of the public API, with a bound on everything a stranger can send. */
import { createServer as createHttpServer, type Server, STATUS_CODES } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { Duplex } from "node:stream";
import type { ListenerTls } from "../tls/TlsMaterial.ts";
import type { ApiPorts } from "./ApiCall.ts";
import { type HttpFault, httpFault, PROBLEM_TYPE, problemOf } from "./HttpErrors.ts";
import { publicApi } from "./PublicApi.ts";
import { requestIdOf } from "./RequestId.ts";

/** Request line and header together: the longest token and as much again. */
export const maxHeaderBytes = 32 * 1024;

const options = {
  maxHeaderSize: maxHeaderBytes,
  headersTimeout: 10_000,
  // Longer than any handler waits for a body: this one ends connections whose answer was given long ago.
  requestTimeout: 20_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 30_000,
};

const headersTooLarge = httpFault(
  "HEADERS_TOO_LARGE",
  `Request line and header take at most ${maxHeaderBytes} bytes.`,
  "Send fewer or shorter header fields.",
);
const tooSlow = httpFault("REQUEST_TIMEOUT", "The request did not arrive in time.", "Send the request again.");
const malformed = httpFault("BAD_REQUEST", "This is not an HTTP/1.1 request.", "Correct the client.");

const faultFor = ({ code }: NodeJS.ErrnoException): HttpFault =>
  code === "HPE_HEADER_OVERFLOW" ? headersTooLarge : code === "ERR_HTTP_REQUEST_TIMEOUT" ? tooSlow : malformed;

/** Answers what never became a request, and closes the connection. */
const refuseRaw = (socket: Duplex, fault: HttpFault): void => {
  const requestId = requestIdOf(undefined);
  const { status, body } = problemOf(fault, requestId);
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `content-type: ${PROBLEM_TYPE}`,
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      "connection: close",
      "",
      body,
    ].join("\r\n"),
  );
};

/** A server that does not listen yet. */
export const makePublicListener = (ports: ApiPorts, tls: ListenerTls | undefined): Server => {
  const answer = publicApi(ports);
  const server = tls === undefined ? createHttpServer(options) : createHttpsServer({ ...options, ...tls });
  /** Connections on which a request is under way: an answer of ours would land in the middle of another. */
  const busy = new WeakSet<Duplex>();
  server.on("request", (request, response) => {
    const { socket } = request;
    busy.add(socket);
    response.on("close", () => {
      if (request.complete) busy.delete(socket);
    });
    answer(request, response);
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || busy.has(socket) || error.code === "ECONNRESET") return void socket.destroy();
    ports.metrics.count("custody_http_responses_total", String(problemOf(faultFor(error), "").status));
    return refuseRaw(socket, faultFor(error));
  });
  return server;
};
