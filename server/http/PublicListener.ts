/** The listener of the public API, with a bound on everything a stranger can send. */
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { Duplex } from "node:stream";
import { closeSoon } from "../net/CloseSoon.ts";
import type { ConnectionGuard } from "../net/ConnectionGuard.ts";
import { timeoutsOf } from "../net/ConnectionLimits.ts";
import { valuesNamed } from "../net/RawHeaders.ts";
import { RequestTurns } from "../net/RequestTurns.ts";
import type { ListenerTls } from "../tls/TlsMaterial.ts";
import type { ApiPorts } from "./ApiCall.ts";
import { type HttpFault, httpFault, PROBLEM_TYPE, problemOf } from "./HttpErrors.ts";
import { publicApi } from "./PublicApi.ts";
import { requestIdOf } from "./RequestId.ts";
import { standingHeaders } from "./StandingHeaders.ts";

/** Request line and header together: the longest token and as much again. */
export const maxHeaderBytes = 32 * 1024;

const parsing = {
  maxHeaderSize: maxHeaderBytes,
  // Judged below: the refusal of the platform would have neither a body nor a request id.
  requireHostHeader: false,
};

const headersTooLarge = httpFault(
  "HEADERS_TOO_LARGE",
  `Request line and header take at most ${maxHeaderBytes} bytes.`,
  "Send fewer or shorter header fields.",
);
const tooSlow = httpFault("REQUEST_TIMEOUT", "The request did not arrive in time.", "Send the request again.");
const malformed = httpFault("BAD_REQUEST", "This is not an HTTP/1.1 request.", "Correct the client.");
const wrongHost = httpFault("BAD_REQUEST", "The header Host is missing or repeated.", "Send it once (RFC 9112 3.2).");
const noProxy = httpFault("METHOD_NOT_ALLOWED", "This is no proxy.", "Use GET, HEAD, POST or PUT.", {
  allow: "GET, HEAD, POST, PUT",
});

const faultFor = ({ code }: NodeJS.ErrnoException): HttpFault =>
  code === "HPE_HEADER_OVERFLOW" ? headersTooLarge : code === "ERR_HTTP_REQUEST_TIMEOUT" ? tooSlow : malformed;

/** RFC 9112 3.2: exactly one, except in the version before. */
const hasHost = ({ httpVersion, rawHeaders }: IncomingMessage): boolean =>
  httpVersion === "1.0" || valuesNamed(rawHeaders, "host").length === 1;

type SubmittedId = string | ReadonlyArray<string> | undefined;

/** A refusal after which the connection ends, as status, header and body. */
const lastWords = (fault: HttpFault, submittedId: SubmittedId, socket: Duplex) => {
  const requestId = requestIdOf(submittedId);
  const { status, headers, body } = problemOf(fault, requestId);
  const all = {
    ...headers,
    "content-type": PROBLEM_TYPE,
    "content-length": Buffer.byteLength(body),
    ...standingHeaders(requestId, socket),
    connection: "close",
  };
  return { status, headers: all, body };
};

/** Answers bytes that never became a request, and closes the connection. */
const refuseRaw = (socket: Duplex, fault: HttpFault, submittedId?: SubmittedId): number => {
  const { status, headers, body } = lastWords(fault, submittedId, socket);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  closeSoon(socket, [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, "", body].join("\r\n"));
  return status;
};

/** Answers a request that is not going to be handled, or not any more, and closes the connection. */
const refuse = (request: IncomingMessage, response: ServerResponse, fault: HttpFault): number => {
  const { status, headers, body } = lastWords(fault, request.headers["x-request-id"], request.socket);
  response.writeHead(status, headers).end(body);
  return status;
};

/** A request under way on a connection. */
interface UnderWay {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** A server that does not listen yet; the guard watches its connections. */
export const makePublicListener = (ports: ApiPorts, tls: ListenerTls | undefined, guard: ConnectionGuard): Server => {
  const answer = publicApi(ports);
  const turns = new RequestTurns();
  const options = { ...parsing, ...timeoutsOf(guard.limits) };
  const server = tls === undefined ? createHttpServer(options) : createHttpsServer({ ...options, ...tls });
  guard.watch(server);
  // Every header is looked at: of two thousand and one, Node would drop the last, and with it a second token.
  server.maxHeadersCount = 0;
  const counted = (status: number): void => ports.metrics.count("custody_http_responses_total", String(status));
  /** The last request of each connection that is busy: raw bytes of ours would land in the middle of its answer. */
  const busy = new WeakMap<Duplex, UnderWay>();
  const take = guard.bounded((request, response) => {
    const { socket } = request;
    const underWay = { request, response };
    busy.set(socket, underWay);
    response.on("close", () => {
      if (request.complete && busy.get(socket) === underWay) busy.delete(socket);
    });
    const arrivedAt = ports.elapsedMillis();
    if (hasHost(request)) turns.take(request, response, () => answer(request, response, arrivedAt));
    else counted(refuse(request, response, wrongHost));
  });
  server.on("request", take);
  // An expectation that is not understood is passed over (RFC 9110 10.1.1).
  server.on("checkExpectation", take);
  server.on("connect", (request, socket) => {
    // What is under way before it would take the refusal for its own answer; a cut connection leaves it open.
    if (busy.has(socket)) return void socket.destroy();
    return counted(refuseRaw(socket, noProxy, request.headers["x-request-id"]));
  });
  /** Connections whose bytes make no sense any more, or came too slowly; more bytes change nothing. */
  const ending = new WeakSet<Duplex>();
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (ending.has(socket)) return;
    ending.add(socket);
    if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") guard.report("slowRequest");
    if (!guard.speaks(socket) || error.code === "ECONNRESET") return void socket.destroy();
    const fault = faultFor(error);
    const refuseRest = (): void => (socket.writable ? counted(refuseRaw(socket, fault)) : void socket.destroy());
    const underWay = busy.get(socket);
    if (underWay === undefined) return refuseRest();
    const { request, response } = underWay;
    // A request that came whole is answered first, whatever comes after it.
    if (request.complete) return void response.once("close", refuseRest);
    // The end of a body that breaks off is unknown: what is left is to say so, if nothing was said.
    if (response.headersSent) return void socket.destroy();
    return counted(refuse(request, response, fault));
  });
  return server;
};
