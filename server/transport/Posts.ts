/**
 * Messages as requests of their own, on a few kept-open connections: to a peer that takes no stream, and those that need
 * a warrant.
 */
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";
import { GrowingBytes } from "../../runtime/GrowingBytes.ts";
import type { Exchange } from "../../runtime/transport/Link.ts";
import { whyBroken, whyLate } from "../net/Unreachable.ts";
import type { PeerClientTls } from "../tls/TlsMaterial.ts";
import { maxEnvelopeBytes, type Outgoing, outlive, signedEnvelope, type WayOptions } from "./Outgoing.ts";

/** Where the peer API takes messages. */
export const MESSAGES_PATH = "/peer/v1/messages";
export const MESSAGE_TYPE = "application/cbor";
/** Of what the peer API refuses. */
export const PROBLEM_TYPE = "application/problem+json";
/** Carries the warrant of a large message, in Base64url. */
export const WARRANT_HEADER = "custody-warrant";

/** Whether the other side closed an idle connection just as it was used again. */
const closedWhileIdle = (request: ClientRequest, error: NodeJS.ErrnoException): boolean =>
  request.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");

export class Posts {
  readonly #options: WayOptions;
  readonly #connections: number;
  #agent: HttpAgent;
  #isClosed = false;

  /** @param connections at most so many at once */
  constructor(options: WayOptions, connections: number) {
    this.#options = options;
    this.#connections = connections;
    this.#agent = this.#makeAgent(options.tls);
  }

  /** Connections from now on show and trust these certificates; one that is in use ends once it is idle. */
  renew(tls: PeerClientTls): void {
    if (this.#isClosed) return;
    const before = this.#agent;
    this.#agent = this.#makeAgent(tls);
    for (const sockets of Object.values(before.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
    before.on("free", (socket: Duplex) => socket.destroy());
  }

  /** Closes the connections. */
  close(): void {
    this.#isClosed = true;
    this.#agent.destroy();
  }

  transmit(exchange: Exchange<Outgoing>): void {
    const { to, ended, timeoutMillis } = this.#options;
    const { warrant } = exchange.message;
    const packet = signedEnvelope(exchange.message);
    if (packet === undefined) return exchange.end("refused");
    const request = (to.isSecure ? httpsRequest : httpRequest)({
      ...to.at,
      method: "POST",
      path: MESSAGES_PATH,
      timeout: timeoutMillis,
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
      if (isTaken || isRefusal) ended(undefined);
      else ended(`it answers ${response.statusCode} as no peer API does; correct its address in cluster.peers`);
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
        ended(timedOut ? whyLate(timeoutMillis) : whyBroken(error.code));
      exchange.end(isStale ? "stale" : "unreachable");
    });
    request.on("socket", outlive);
    request.end(packet);
  }

  #makeAgent(tls: PeerClientTls): HttpAgent {
    const pool = { keepAlive: true, maxSockets: this.#connections };
    return this.#options.to.isSecure ? new HttpsAgent({ ...pool, ...tls }) : new HttpAgent(pool);
  }

  #receive(response: IncomingMessage): void {
    const { parcel: makeParcel, received, dropped } = this.#options;
    // Copied at once: a peer may answer in chunks of a byte, each an object of many.
    const bytes = new GrowingBytes(maxEnvelopeBytes);
    const parcel = makeParcel();
    let length = 0;
    let isHandedOn = false;
    let isRefused = false;
    response.on("data", (chunk: Uint8Array) => {
      if (isRefused) return;
      length += chunk.length;
      if (length <= maxEnvelopeBytes && parcel.grow(chunk.length)) return bytes.add(chunk);
      isRefused = true;
      dropped("no room");
      response.destroy();
    });
    response.on("end", () => {
      // The end may have come with the bytes that were refused.
      if (this.#isClosed || isRefused) return;
      isHandedOn = true;
      received(bytes.whole(), parcel);
    });
    response.on("close", () => {
      if (!isHandedOn) parcel.release();
    });
  }
}
