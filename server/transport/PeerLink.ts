/**
 * The way to one other peer: a few kept-open connections and a short queue.
 * A message that does not get through is dropped and never repeated here; the
 * protocol sends again what still matters, at its own pace.
 */
import { Limits } from "../../core/Limits.ts";
import {
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingMessage,
  type RequestOptions,
  request as httpRequest,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";
import type { PeerClientTls } from "../tls/TlsMaterial.ts";

/** A full batch and what the envelope adds to it. */
export const maxEnvelopeBytes = Limits.envelopeBytes + 1024;

/** Where the peer API takes messages. */
export const MESSAGES_PATH = "/peer/v1/messages";
export const MESSAGE_TYPE = "application/cbor";

export interface LinkLimits {
  readonly connections: number;
  readonly queuedMessages: number;
  readonly queuedBytes: number;
  /** From sending a message to its answer. */
  readonly timeoutMillis: number;
}

export const linkLimits: LinkLimits = {
  connections: 16,
  queuedMessages: 1024,
  queuedBytes: 32 * 1024 * 1024,
  timeoutMillis: 5_000,
};

/** Why a message did not get through; names for metrics. */
export type DropReason = "queue full" | "refused" | "unreachable";

export interface LinkOptions {
  /** `scheme://host:port`. */
  readonly url: string;
  readonly tls: PeerClientTls;
  readonly dropped: (reason: DropReason) => void;
  /** Takes an envelope that came back as the answer to a message. */
  readonly received: (envelope: Uint8Array) => void;
  readonly limits?: LinkLimits;
}

/** After the other side closed an idle connection just as it was used again, one new connection is worth a try. */
const closedWhileIdle = (request: ClientRequest, error: NodeJS.ErrnoException): boolean =>
  request.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");

export class PeerLink {
  readonly #limits: LinkLimits;
  readonly #dropped: (reason: DropReason) => void;
  readonly #received: (envelope: Uint8Array) => void;
  readonly #makeAgent: (tls: PeerClientTls) => HttpAgent;
  readonly #request: typeof httpRequest;
  readonly #options: RequestOptions;
  #agent: HttpAgent;
  readonly #queue: Array<Uint8Array> = [];
  #queuedBytes = 0;
  #underWay = 0;
  #closed = false;
  #reachable: boolean | undefined;

  constructor({ url, tls, dropped, received, limits = linkLimits }: LinkOptions) {
    const { protocol, hostname, port } = new URL(url);
    const secure = protocol === "https:";
    const pool = { keepAlive: true, maxSockets: limits.connections };
    this.#limits = limits;
    this.#dropped = dropped;
    this.#received = received;
    this.#makeAgent = (current) => (secure ? new HttpsAgent({ ...pool, ...current }) : new HttpAgent(pool));
    this.#agent = this.#makeAgent(tls);
    this.#request = secure ? httpsRequest : httpRequest;
    this.#options = {
      method: "POST",
      // A URL brackets an IPv6 address, a socket does not.
      host: hostname.replace(/^\[(.*)\]$/, "$1"),
      port: port === "" ? (secure ? 443 : 80) : port,
      path: MESSAGES_PATH,
      timeout: limits.timeoutMillis,
    };
  }

  /** Whether the last message got an answer; undefined before the first. */
  get reachable(): boolean | undefined {
    return this.#reachable;
  }

  /** Takes a message; when too many wait, the oldest is dropped. */
  send(message: Uint8Array): void {
    if (this.#closed) return;
    if (this.#underWay < this.#limits.connections) return this.#transmit(message);
    this.#queue.push(message);
    this.#queuedBytes += message.length;
    while (this.#queue.length > this.#limits.queuedMessages || this.#queuedBytes > this.#limits.queuedBytes) {
      this.#queuedBytes -= this.#queue.shift()?.length ?? 0;
      this.#dropped("queue full");
    }
  }

  /** Connections from now on show and trust these certificates; one that is in use ends once it is idle. */
  renew(tls: PeerClientTls): void {
    if (this.#closed) return;
    const before = this.#agent;
    this.#agent = this.#makeAgent(tls);
    for (const sockets of Object.values(before.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
    before.on("free", (socket: Duplex) => socket.destroy());
  }

  /** Drops what waits and closes the connections. */
  close(): void {
    this.#closed = true;
    this.#queue.length = 0;
    this.#queuedBytes = 0;
    this.#agent.destroy();
  }

  #transmit(message: Uint8Array, again = false): void {
    this.#underWay += 1;
    let settled = false;
    const settle = (reachable: boolean, reason: DropReason | undefined): void => {
      if (settled) return;
      settled = true;
      this.#underWay -= 1;
      if (this.#closed) return;
      this.#reachable = reachable;
      if (reason !== undefined) this.#dropped(reason);
      this.#next();
    };
    const request = this.#request({
      ...this.#options,
      agent: this.#agent,
      headers: { "content-type": MESSAGE_TYPE, "content-length": message.length },
    });
    request.on("response", (response) => {
      const isEnvelope = response.statusCode === 200 && response.headers["content-type"] === MESSAGE_TYPE;
      if (isEnvelope) this.#receive(response);
      else response.resume();
      const isTaken = isEnvelope || response.statusCode === 204;
      response.on("close", () => settle(true, isTaken ? undefined : "refused"));
    });
    let timedOut = false;
    request.on("timeout", () => {
      timedOut = true;
      request.destroy();
    });
    request.on("error", (error: NodeJS.ErrnoException) => {
      if (again || timedOut || settled || this.#closed || !closedWhileIdle(request, error))
        return settle(false, "unreachable");
      settled = true;
      this.#underWay -= 1;
      this.#transmit(message, true);
    });
    request.end(message);
  }

  #receive(response: IncomingMessage): void {
    const chunks: Array<Uint8Array> = [];
    let length = 0;
    response.on("data", (chunk: Uint8Array) => {
      length += chunk.length;
      if (length > maxEnvelopeBytes) response.destroy();
      else chunks.push(chunk);
    });
    response.on("end", () => {
      if (this.#closed) return;
      // Plain arrays: of a Buffer, `slice` shares what an array's copies.
      this.#received(new Uint8Array(Buffer.concat(chunks, length)));
    });
  }

  #next(): void {
    const message = this.#queue.shift();
    if (message === undefined) return;
    this.#queuedBytes -= message.length;
    this.#transmit(message);
  }
}
