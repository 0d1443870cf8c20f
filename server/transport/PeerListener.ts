/**
 * The peer API: GET /peer/v1/stream becomes a stream of messages, POST /peer/v1/messages takes one, GET /metrics shows
 * counters.
 */
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type Scrutiny, STRANGER_BYTES } from "../../runtime/EnvelopeCodec.ts";
import type { Warrant } from "../../runtime/Warrant.ts";
import type { Incoming, Intake } from "../../runtime/transport/Intake.ts";
import type { Session } from "../../runtime/transport/Session.ts";
import type { MailboxRoom } from "../../runtime/transport/MailboxRoom.ts";
import type { BodyAccount } from "../../runtime/BodyBudget.ts";
import { GrowingBytes } from "../../runtime/GrowingBytes.ts";
import { addressKey } from "../net/AddressKey.ts";
import { METRICS_PATH, METRICS_TYPE, type Scrape, UNMEASURED } from "../peer/MetricsListener.ts";
import { closeSoon } from "../net/CloseSoon.ts";
import type { ConnectionGuard } from "../net/ConnectionGuard.ts";
import { timeoutsOf } from "../net/ConnectionLimits.ts";
import type { ListenerTls } from "../tls/TlsMaterial.ts";
import { ArrivalRoom } from "../../runtime/transport/ArrivalRoom.ts";
import { Greetings } from "./Greetings.ts";
import type { Strangers } from "./Strangers.ts";
import { maxEnvelopeBytes, type Outgoing } from "./Outgoing.ts";
import { takeStream } from "./PeerStreams.ts";
import { MESSAGE_TYPE, MESSAGES_PATH, PROBLEM_TYPE, WARRANT_HEADER } from "./Posts.ts";

/** What the peer API needs of the peer behind it. */
export interface PeerEndpoint {
  readonly intake: Pick<Intake<Uint8Array, Outgoing>, "isBusy" | "receive">;
  /** The accepting end of a session, for one stream. */
  readonly session: () => Session<Uint8Array>;
  /** The content of a warrant; undefined unless a member gave it. */
  readonly warranted: (bytes: Uint8Array) => Warrant | undefined;
  /** Room for messages on their way to the driver. */
  readonly room: MailboxRoom;
  /** How much is looked into of what nothing vouches for. */
  readonly strangers: Pick<Strangers, "of">;
  readonly initialized: () => boolean;
  readonly answered: (status: number) => void;
}

/** What the listener serves: messages, and the counters of this peer. */
export interface ListenerEndpoint extends PeerEndpoint {
  readonly metrics: Scrape;
}

const BODY_MILLIS = 10_000;

const BUSY = "This peer has as many messages under way as it may.";

const WORN = "Too much that nobody vouches for has come from this address.";

const STRANGER = `A message of more than ${STRANGER_BYTES} bytes comes with the warrant of a member.`;

const titles: Readonly<Record<number, string>> = {
  400: "Malformed message",
  404: "Not found",
  405: "Method not allowed",
  411: "Length required",
  413: "Message too large",
  415: "Unsupported media type",
  500: "Internal error",
  503: "Not now",
};

/** A request and its response. */
class HttpExchange {
  readonly #endpoint: ListenerEndpoint;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;

  constructor(endpoint: ListenerEndpoint, request: IncomingMessage, response: ServerResponse) {
    this.#endpoint = endpoint;
    this.#request = request;
    this.#response = response;
  }

  /** As those see it who take messages in. */
  incoming(scrutiny: Scrutiny): Incoming<Outgoing> {
    const refuse: Incoming<Outgoing>["refuse"] = (why, detail) =>
      why === "not opened"
        ? this.refuse(this.#endpoint.initialized() ? 400 : 503, `The message is refused: ${detail}.`)
        : this.refuse(503, why === "no room" ? BUSY : WORN, { "retry-after": "1" });
    return { refuse, member: undefined, mayAnswer: false, scrutiny, end: () => this.end() };
  }

  refuse(status: number, detail: string, headers: Readonly<Record<string, string>> = {}): void {
    if (this.#response.writableEnded) return;
    const body = JSON.stringify({ title: titles[status], status, detail });
    this.#response.writeHead(status, {
      "content-type": PROBLEM_TYPE,
      "content-length": Buffer.byteLength(body),
      ...headers,
    });
    this.#response.end(body);
    this.#endpoint.answered(status);
  }

  accept(): void {
    this.#response.writeHead(204).end();
    this.#endpoint.answered(204);
  }

  /** Ends it with nothing; false when the other side has gone away. */
  end(): boolean {
    if (this.#response.writableEnded || this.#response.destroyed) return false;
    this.accept();
    return true;
  }

  async metrics(): Promise<void> {
    const text = await this.#endpoint.metrics();
    if (text === undefined) return this.refuse(500, UNMEASURED);
    this.#response.writeHead(200, { "content-type": METRICS_TYPE, "content-length": Buffer.byteLength(text) });
    this.#response.end(text);
  }

  /**
   * Reads a body of a declared length; `use` gets all of it, or is never called. Bytes count as they arrive: a mere
   * promise of bytes takes no room from others.
   */
  readBody(length: number, room: BodyAccount, use: (body: Uint8Array) => void): void {
    const body = new GrowingBytes(length);
    const timer = setTimeout(() => this.#request.destroy(), BODY_MILLIS);
    this.#request.on("data", (chunk: Uint8Array) => {
      if (this.#response.writableEnded) return;
      if (room.take(chunk.length) !== undefined)
        return this.refuse(503, BUSY, { "retry-after": "1", connection: "close" });
      body.add(chunk);
    });
    this.#request.on("end", () => {
      if (!this.#response.writableEnded) use(body.whole());
    });
    this.#request.on("close", () => {
      clearTimeout(timer);
      room.close();
    });
  }
}

const lengthOf = (request: IncomingMessage): number | undefined => {
  const declared = request.headers["content-length"];
  return declared === undefined ? undefined : Number(declared);
};

/** The warrant in a request's header; undefined where there is none that holds. */
const warrantOf = (
  endpoint: PeerEndpoint,
  { headers }: IncomingMessage,
  { mayVerify, unvouched }: Scrutiny,
): Warrant | undefined => {
  const sent = headers[WARRANT_HEADER];
  if (typeof sent !== "string" || !mayVerify()) return undefined;
  const warrant = endpoint.warranted(new Uint8Array(Buffer.from(sent, "base64url")));
  if (warrant === undefined) unvouched(1);
  return warrant;
};

interface Arriving {
  readonly request: IncomingMessage;
  readonly exchange: HttpExchange;
  readonly isProven: boolean;
}

const takeMessage = (
  endpoint: PeerEndpoint,
  arrivals: ArrivalRoom,
  { request, exchange, isProven }: Arriving,
): void => {
  if (request.method !== "POST") return exchange.refuse(405, "Send messages with POST.", { allow: "POST" });
  if (request.headers["content-type"] !== MESSAGE_TYPE) return exchange.refuse(415, `A message is ${MESSAGE_TYPE}.`);
  const length = lengthOf(request);
  if (length === undefined) return exchange.refuse(411, "A message comes with its Content-Length.");
  if (length > maxEnvelopeBytes) return exchange.refuse(413, `A message takes at most ${maxEnvelopeBytes} bytes.`);
  if (endpoint.intake.isBusy) return exchange.refuse(503, BUSY, { "retry-after": "1" });
  const address = addressKey(request.socket.remoteAddress);
  const scrutiny = endpoint.strangers.of(address, isProven);
  const warrant = length > STRANGER_BYTES ? warrantOf(endpoint, request, scrutiny) : undefined;
  const room = arrivals.open({ length, address, isProven, warrant });
  if (room === undefined) return exchange.refuse(413, STRANGER);
  exchange.readBody(length, room, (body) => endpoint.intake.receive(body, body.length, exchange.incoming(scrutiny)));
};

export interface PeerListener {
  readonly server: Server;
  readonly bodyBytes: () => number;
}

/** Answers bytes that never became a request. */
const lastWords = ({ code }: NodeJS.ErrnoException): string => {
  const line = code === "ERR_HTTP_REQUEST_TIMEOUT" ? "408 Request Timeout" : "400 Bad Request";
  return `HTTP/1.1 ${line}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`;
};

/** A server that does not listen yet. */
export const makePeerListener = (
  endpoint: ListenerEndpoint,
  tls: ListenerTls | undefined,
  guard: ConnectionGuard,
): PeerListener => {
  const arrivals = new ArrivalRoom();
  const greetings = new Greetings(() => performance.now());
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const exchange = new HttpExchange(endpoint, request, response);
    request.on("error", () => undefined);
    if (request.url === MESSAGES_PATH)
      return takeMessage(endpoint, arrivals, { request, exchange, isProven: guard.isProven(request.socket) });
    if (request.url !== METRICS_PATH) return exchange.refuse(404, "There is no such resource here.");
    if (request.method !== "GET") return exchange.refuse(405, "Metrics are only read.", { allow: "GET" });
    return void exchange.metrics();
  };
  const options = { ...timeoutsOf(guard.limits), maxHeaderSize: 8 * 1024 };
  const server = tls === undefined ? createHttpServer(options) : createHttpsServer({ ...options, ...tls });
  guard.watch(server);
  server.on("request", guard.bounded(handle));
  const streams = { endpoint, arrivals, guard, greetings };
  server.on("upgrade", (request, socket, head) => takeStream(streams, request, socket, head));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const isBusy = guard.isBusy(socket);
    if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") guard.report("slowRequest");
    if (isBusy || !guard.speaks(socket) || !socket.writable) return void socket.destroy();
    return closeSoon(socket, lastWords(error));
  });
  return { server, bodyBytes: () => arrivals.held + endpoint.room.held };
};
