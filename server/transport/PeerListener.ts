/**
 * The peer API: POST /peer/v1/messages takes one signed envelope, GET /metrics
 * shows counters. Plain `node:http`: every registration crosses it a dozen times.
 */
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { Either } from "effect";
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { isVouchedFor, type Opened, STRANGER_BYTES, type Unread } from "../../runtime/EnvelopeCodec.ts";
import type { Warrant } from "../../runtime/Warrant.ts";
import { tokensIn } from "../../runtime/Ingress.ts";
import type { BodyAccount } from "../http/BodyBudget.ts";
import { addressKey } from "../net/AddressKey.ts";
import { METRICS_PATH, METRICS_TYPE, type Scrape, UNMEASURED } from "../peer/MetricsListener.ts";
import { closeSoon } from "../net/CloseSoon.ts";
import type { ConnectionGuard } from "../net/ConnectionGuard.ts";
import { timeoutsOf } from "../net/ConnectionLimits.ts";
import type { ListenerTls } from "../tls/TlsMaterial.ts";
import { ArrivalRoom } from "./ArrivalRoom.ts";
import { asksBack, type EndExchange } from "./HeldAnswers.ts";
import type { MailboxRoom, Parcel } from "./MailboxRoom.ts";
import { maxEnvelopeBytes, MESSAGE_TYPE, MESSAGES_PATH, WARRANT_HEADER } from "./PeerLink.ts";

/** What the peer API needs of the peer behind it. */
export interface PeerEndpoint {
  readonly open: (bytes: Uint8Array) => Either.Either<Opened | Unread, string>;
  /** The content of a warrant; undefined unless a member gave it. */
  readonly warranted: (bytes: Uint8Array) => Warrant | undefined;
  /** Hands a message to the driver; `consumed` is called when the driver is done with it. */
  readonly deliver: (opened: Opened, actors: ReadonlyArray<ActorCheck>, consumed: () => void) => void;
  /** The same with a message that cannot be read here. */
  readonly unread: (unread: Unread, consumed: () => void) => void;
  /** Room for messages on their way to the driver. */
  readonly room: MailboxRoom;
  /** Keeps an exchange open for this peer's next message to the sender. */
  readonly hold: (from: PeerId, end: EndExchange) => void;
  readonly backlog: () => number;
  readonly initialized: () => boolean;
  readonly check: (token: string) => Promise<ActorCheck>;
  readonly answered: (status: number) => void;
}

/** What the listener serves: messages, and the counters of this peer. */
export interface ListenerEndpoint extends PeerEndpoint {
  readonly metrics: Scrape;
}

/** Events waiting for the driver beyond which new messages are turned away. */
const MOST_BACKLOG = 4096;
const BODY_MILLIS = 10_000;

const BUSY = "This peer has as many messages under way as it may.";

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

class Exchange {
  readonly #endpoint: ListenerEndpoint;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  /** Tells that a member is at the other end of the connection. */
  readonly proven: () => void;

  constructor(endpoint: ListenerEndpoint, request: IncomingMessage, response: ServerResponse, proven: () => void) {
    this.#endpoint = endpoint;
    this.#request = request;
    this.#response = response;
    this.proven = proven;
  }

  refuse(status: number, detail: string, headers: Readonly<Record<string, string>> = {}): void {
    if (this.#response.writableEnded) return;
    const body = JSON.stringify({ title: titles[status], status, detail });
    this.#response.writeHead(status, {
      "content-type": "application/problem+json",
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

  /** Ends it with an envelope, or with nothing; false when the other side has gone away. */
  end(envelope: Uint8Array | undefined): boolean {
    if (this.#response.writableEnded || this.#response.destroyed) return false;
    if (envelope === undefined) this.accept();
    else {
      this.#response.writeHead(200, { "content-type": MESSAGE_TYPE, "content-length": envelope.length });
      this.#response.end(envelope);
      this.#endpoint.answered(200);
    }
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
    const chunks: Array<Uint8Array> = [];
    const timer = setTimeout(() => this.#request.destroy(), BODY_MILLIS);
    this.#request.on("data", (chunk: Uint8Array) => {
      if (this.#response.writableEnded) return;
      if (room.take(chunk.length) !== undefined)
        return this.refuse(503, BUSY, { "retry-after": "1", connection: "close" });
      chunks.push(chunk);
    });
    this.#request.on("end", () => {
      if (this.#response.writableEnded) return;
      const [only] = chunks;
      const body = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, length);
      // Plain arrays: of a Buffer, `slice` shares what an array's copies.
      use(new Uint8Array(body.buffer, body.byteOffset, body.byteLength));
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

/** One check for each different token: the requests of one caller often share a batch. */
const checkAll = (endpoint: PeerEndpoint, tokens: ReadonlyArray<string>): Promise<ReadonlyArray<ActorCheck>> => {
  const checks = new Map<string, Promise<ActorCheck>>();
  return Promise.all(
    tokens.map((token) => {
      const known = checks.get(token) ?? endpoint.check(token);
      checks.set(token, known);
      return known;
    }),
  );
};

const receive = (endpoint: PeerEndpoint, exchange: Exchange, body: Uint8Array): void => {
  const opened = endpoint.open(body);
  if (Either.isLeft(opened))
    return exchange.refuse(endpoint.initialized() ? 400 : 503, `The message is refused: ${opened.left}.`);
  const parcel = endpoint.room.parcel(opened.right.from);
  if (!parcel.grow(body.length)) return exchange.refuse(503, BUSY, { "retry-after": "1" });
  const { from, message } = opened.right;
  if (message === undefined || isVouchedFor(message)) exchange.proven();
  if (message !== undefined && asksBack(message)) endpoint.hold(from, (envelope) => exchange.end(envelope));
  else exchange.accept();
  takeIn(endpoint, opened.right, parcel);
};

const takeIn = (endpoint: PeerEndpoint, opened: Opened | Unread, { release }: Parcel): void => {
  if (opened.message === undefined) return endpoint.unread(opened, release);
  const tokens = tokensIn(opened.message);
  if (tokens.length === 0) return endpoint.deliver(opened, [], release);
  void checkAll(endpoint, tokens).then((actors) => endpoint.deliver(opened, actors, release));
};

/** Takes in an envelope that came back as the answer to one of this peer's own requests; a bad one is dropped. */
export const takeAnswer = (endpoint: PeerEndpoint, envelope: Uint8Array, parcel: Parcel): void => {
  const opened = endpoint.backlog() >= MOST_BACKLOG ? undefined : endpoint.open(envelope);
  if (opened !== undefined && Either.isRight(opened)) takeIn(endpoint, opened.right, parcel);
  else parcel.release();
};

/** The warrant in a request's header; undefined where there is none that holds. */
const warrantOf = (endpoint: PeerEndpoint, { headers }: IncomingMessage): Warrant | undefined => {
  const warrant = headers[WARRANT_HEADER];
  return typeof warrant === "string"
    ? endpoint.warranted(new Uint8Array(Buffer.from(warrant, "base64url")))
    : undefined;
};

interface Arriving {
  readonly request: IncomingMessage;
  readonly exchange: Exchange;
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
  if (endpoint.backlog() >= MOST_BACKLOG) return exchange.refuse(503, BUSY, { "retry-after": "1" });
  const address = addressKey(request.socket.remoteAddress);
  const warrant = length > STRANGER_BYTES ? warrantOf(endpoint, request) : undefined;
  const room = arrivals.open({ length, address, isProven, warrant });
  if (room === undefined) return exchange.refuse(413, STRANGER);
  exchange.readBody(length, room, (body) => receive(endpoint, exchange, body));
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
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const exchange = new Exchange(endpoint, request, response, () => guard.prove(request.socket));
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
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const isBusy = guard.isBusy(socket);
    if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") guard.report("slowRequest");
    if (isBusy || !guard.speaks(socket) || !socket.writable) return void socket.destroy();
    return closeSoon(socket, lastWords(error));
  });
  return { server, bodyBytes: () => arrivals.held + endpoint.room.held };
};
