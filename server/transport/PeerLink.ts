/** The link to one other peer over HTTP: each message is a request on one of a few kept-open connections. */
import { Limits } from "../../core/base/Limits.ts";
import {
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingMessage,
  type RequestOptions,
  request as httpRequest,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";
import { type DropReason, type Exchange, Link, type LinkLimits, linkLimits } from "../../runtime/transport/Link.ts";
import type { LinkTo } from "../../runtime/transport/Links.ts";
import type { Parcel } from "../../runtime/transport/MailboxRoom.ts";
import type { Sendable } from "../../runtime/transport/Outbox.ts";
import { whyBroken, whyLate } from "../net/Unreachable.ts";
import type { PeerClientTls } from "../tls/TlsMaterial.ts";

/** A full batch and the envelope around it. */
export const maxEnvelopeBytes = Limits.envelopeBytes + 1024;

/** Where the peer API takes messages. */
export const MESSAGES_PATH = "/peer/v1/messages";
export const MESSAGE_TYPE = "application/cbor";
/** Of what the peer API refuses. */
export const PROBLEM_TYPE = "application/problem+json";
/** Carries the warrant of a large message, in Base64url. */
export const WARRANT_HEADER = "custody-warrant";

/** Without a sign of the other side for so long, a request is given up. */
const TIMEOUT_MILLIS = 5_000;

/** A message on its way. */
export interface Outgoing extends Sendable {
  /** The envelope. */
  readonly packet: Uint8Array;
  /** This peer's signed notice of a large message; absent for a small one. */
  readonly warrant: Uint8Array | undefined;
}

export interface LinkOptions {
  /** `scheme://host:port`. */
  readonly url: string;
  readonly tls: PeerClientTls;
  readonly dropped: (reason: DropReason) => void;
  /** Told after every message why it was not answered, and what to do about it; undefined where it was. */
  readonly ended: (why: string | undefined) => void;
  /** Takes an envelope that came back as the answer to a message, and gives its room back when it is done with it. */
  readonly received: (envelope: Uint8Array, parcel: Parcel) => void;
  /** Room for one more answer. */
  readonly parcel: () => Parcel;
  readonly limits?: LinkLimits;
  readonly timeoutMillis?: number;
}

const ignore = (): void => undefined;

/**
 * Node takes its own listener from a connection when an answer has come, and the rest of a body may fail after that: a
 * server that refuses a long message at its beginning and hangs up would end this process.
 */
const outlive = (socket: Duplex): void => {
  if (!socket.listeners("error").includes(ignore)) socket.on("error", ignore);
};

/** Whether the other side closed an idle connection just as it was used again. */
const closedWhileIdle = (request: ClientRequest, error: NodeJS.ErrnoException): boolean =>
  request.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");

export class PeerLink implements LinkTo<Outgoing> {
  readonly #link: Link<Outgoing>;
  readonly #dropped: (reason: DropReason) => void;
  readonly #ended: LinkOptions["ended"];
  readonly #received: LinkOptions["received"];
  readonly #parcel: () => Parcel;
  readonly #makeAgent: (tls: PeerClientTls) => HttpAgent;
  readonly #request: typeof httpRequest;
  readonly #options: RequestOptions;
  readonly #timeoutMillis: number;
  #agent: HttpAgent;
  #isClosed = false;

  constructor(options: LinkOptions) {
    const { url, tls, dropped, ended, received, parcel, limits = linkLimits, timeoutMillis = TIMEOUT_MILLIS } = options;
    const { protocol, hostname, port } = new URL(url);
    const secure = protocol === "https:";
    const pool = { keepAlive: true, maxSockets: limits.connections };
    this.#link = new Link({ transmit: (exchange) => this.#transmit(exchange), dropped }, limits);
    this.#dropped = dropped;
    this.#ended = ended;
    this.#received = received;
    this.#parcel = parcel;
    this.#makeAgent = (current) => (secure ? new HttpsAgent({ ...pool, ...current }) : new HttpAgent(pool));
    this.#agent = this.#makeAgent(tls);
    this.#request = secure ? httpsRequest : httpRequest;
    this.#timeoutMillis = timeoutMillis;
    this.#options = {
      method: "POST",
      // A URL brackets an IPv6 address, a socket does not.
      host: hostname.replace(/^\[(.*)\]$/, "$1"),
      port: port === "" ? (secure ? 443 : 80) : port,
      path: MESSAGES_PATH,
      timeout: timeoutMillis,
    };
  }

  get isReachable(): boolean | undefined {
    return this.#link.isReachable;
  }

  send(message: Outgoing): void {
    this.#link.send(message);
  }

  /** Connections from now on show and trust these certificates; one that is in use ends once it is idle. */
  renew(tls: PeerClientTls): void {
    if (this.#isClosed) return;
    const before = this.#agent;
    this.#agent = this.#makeAgent(tls);
    for (const sockets of Object.values(before.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
    before.on("free", (socket: Duplex) => socket.destroy());
  }

  /** Drops the waiting messages and closes the connections. */
  close(): void {
    this.#isClosed = true;
    this.#link.close();
    this.#agent.destroy();
  }

  #transmit(exchange: Exchange<Outgoing>): void {
    const { packet, warrant } = exchange.message;
    const request = this.#request({
      ...this.#options,
      agent: this.#agent,
      headers: {
        "content-type": MESSAGE_TYPE,
        "content-length": packet.length,
        ...(warrant === undefined ? {} : { [WARRANT_HEADER]: Buffer.from(warrant).toString("base64url") }),
      },
    });
    request.on("response", (response) => {
      const isEnvelope = response.statusCode === 200 && response.headers["content-type"] === MESSAGE_TYPE;
      if (isEnvelope) this.#receive(response);
      else response.resume();
      const isTaken = isEnvelope || response.statusCode === 204;
      // A peer that refuses a message has been reached; our own public API has no such path.
      const isRefusal = response.headers["content-type"] === PROBLEM_TYPE && response.statusCode !== 404;
      if (isTaken || isRefusal) this.#ended(undefined);
      else this.#ended(`it answers ${response.statusCode} as no peer API does; correct its address in cluster.peers`);
      response.on("close", () => exchange.end(isTaken ? "taken" : "refused"));
    });
    let timedOut = false;
    request.on("timeout", () => {
      timedOut = true;
      request.destroy();
    });
    request.on("error", (error: NodeJS.ErrnoException) => {
      const isStale = !timedOut && closedWhileIdle(request, error);
      if ((!isStale || exchange.isAgain) && !this.#isClosed)
        this.#ended(timedOut ? whyLate(this.#timeoutMillis) : whyBroken(error.code));
      exchange.end(isStale ? "stale" : "unreachable");
    });
    request.on("socket", outlive);
    request.end(packet);
  }

  #receive(response: IncomingMessage): void {
    const chunks: Array<Uint8Array> = [];
    const parcel = this.#parcel();
    let length = 0;
    let isHandedOn = false;
    let isRefused = false;
    response.on("data", (chunk: Uint8Array) => {
      if (isRefused) return;
      length += chunk.length;
      if (length <= maxEnvelopeBytes && parcel.grow(chunk.length)) return void chunks.push(chunk);
      isRefused = true;
      this.#dropped("no room");
      response.destroy();
    });
    response.on("end", () => {
      // The end may have come with the bytes that were refused.
      if (this.#isClosed || isRefused) return;
      isHandedOn = true;
      // Plain arrays: of a Buffer, `slice` shares what an array's copies.
      this.#received(new Uint8Array(Buffer.concat(chunks, length)), parcel);
    });
    response.on("close", () => {
      if (!isHandedOn) parcel.release();
    });
  }
}
