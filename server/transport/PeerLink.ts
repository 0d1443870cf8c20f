/**
 * The link to one other peer: a few kept-open connections and two short queues, so that rounds are not delayed by any
 * number of callers' messages. A message that does not get through is dropped and never repeated here; the protocol
 * sends again what still matters, at its own pace.
 */
import { Limits } from "../../core/base/Limits.ts";
import type { Lane } from "../../core/protocol/Lane.ts";
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
import type { Parcel } from "./MailboxRoom.ts";

/** A full batch and the envelope around it. */
export const maxEnvelopeBytes = Limits.envelopeBytes + 1024;

/** Where the peer API takes messages. */
export const MESSAGES_PATH = "/peer/v1/messages";
export const MESSAGE_TYPE = "application/cbor";
/** Carries the warrant of a large message, in Base64url. */
export const WARRANT_HEADER = "custody-warrant";

export interface LinkLimits {
  readonly connections: number;
  /** Of these, how many are never used for bulk. */
  readonly roundConnections: number;
  /** In each of the two queues. */
  readonly queuedMessages: number;
  readonly queuedBytes: number;
  /** From sending a message to its answer. */
  readonly timeoutMillis: number;
}

export const linkLimits: LinkLimits = {
  connections: 16,
  roundConnections: 6,
  queuedMessages: 1024,
  queuedBytes: 32 * 1024 * 1024,
  timeoutMillis: 5_000,
};

/** A message on its way. */
export interface Outgoing {
  readonly envelope: Uint8Array;
  readonly lane: Lane;
  /** This peer's signed notice of a large message; absent for a small one. */
  readonly warrant: Uint8Array | undefined;
}

/** Why a message did not get through; names for metrics. */
export type DropReason = "queue full" | "refused" | "unreachable" | "no room";

export interface LinkOptions {
  /** `scheme://host:port`. */
  readonly url: string;
  readonly tls: PeerClientTls;
  readonly dropped: (reason: DropReason) => void;
  /** Takes an envelope that came back as the answer to a message, and gives its room back when it is done with it. */
  readonly received: (envelope: Uint8Array, parcel: Parcel) => void;
  /** Room for one more answer. */
  readonly parcel: () => Parcel;
  readonly limits?: LinkLimits;
}

const ignore = (): void => undefined;

/**
 * Node takes its own listener from a connection when an answer has come, and the rest of a body may fail after that: a
 * server that refuses a long message at its beginning and hangs up would end this process.
 */
const outlive = (socket: Duplex): void => {
  if (!socket.listeners("error").includes(ignore)) socket.on("error", ignore);
};

/** After the other side closed an idle connection just as it was used again, one new connection is worth a try. */
const closedWhileIdle = (request: ClientRequest, error: NodeJS.ErrnoException): boolean =>
  request.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");

/** The waiting messages of one lane. */
class Waiting {
  readonly #messages: Array<Outgoing> = [];
  readonly #limits: LinkLimits;
  #bytes = 0;

  constructor(limits: LinkLimits) {
    this.#limits = limits;
  }

  get isOver(): boolean {
    return this.#messages.length > this.#limits.queuedMessages || this.#bytes > this.#limits.queuedBytes;
  }

  push(message: Outgoing): void {
    this.#messages.push(message);
    this.#bytes += message.envelope.length;
  }

  takeOldest(): Outgoing | undefined {
    return this.#without(this.#messages.shift());
  }

  takeNewest(): Outgoing | undefined {
    return this.#without(this.#messages.pop());
  }

  clear(): void {
    this.#messages.length = 0;
    this.#bytes = 0;
  }

  #without(message: Outgoing | undefined): Outgoing | undefined {
    this.#bytes -= message?.envelope.length ?? 0;
    return message;
  }
}

export class PeerLink {
  readonly #limits: LinkLimits;
  readonly #dropped: (reason: DropReason) => void;
  readonly #received: LinkOptions["received"];
  readonly #parcel: () => Parcel;
  readonly #makeAgent: (tls: PeerClientTls) => HttpAgent;
  readonly #request: typeof httpRequest;
  readonly #options: RequestOptions;
  #agent: HttpAgent;
  readonly #waiting: { readonly [L in Lane]: Waiting };
  readonly #underWay: { [L in Lane]: number } = { round: 0, bulk: 0 };
  #closed = false;
  #reachable: boolean | undefined;

  constructor({ url, tls, dropped, received, parcel, limits = linkLimits }: LinkOptions) {
    const { protocol, hostname, port } = new URL(url);
    const secure = protocol === "https:";
    const pool = { keepAlive: true, maxSockets: limits.connections };
    this.#limits = limits;
    this.#dropped = dropped;
    this.#received = received;
    this.#parcel = parcel;
    this.#waiting = { round: new Waiting(limits), bulk: new Waiting(limits) };
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

  /**
   * Takes a message. When too many wait, the oldest of a round is dropped, since later ones say more; of bulk the
   * newest, since the first to come is the first to be served.
   */
  send(message: Outgoing): void {
    if (this.#closed) return;
    const { lane } = message;
    if (this.#hasRoomFor(lane)) return this.#transmit(message);
    const waiting = this.#waiting[lane];
    waiting.push(message);
    while (waiting.isOver) {
      if (lane === "bulk") waiting.takeNewest();
      else waiting.takeOldest();
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

  /** Drops the waiting messages and closes the connections. */
  close(): void {
    this.#closed = true;
    this.#waiting.round.clear();
    this.#waiting.bulk.clear();
    this.#agent.destroy();
  }

  #hasRoomFor(lane: Lane): boolean {
    const { round, bulk } = this.#underWay;
    const { connections, roundConnections } = this.#limits;
    return round + bulk < connections && (lane === "round" || bulk < connections - roundConnections);
  }

  #transmit(message: Outgoing, again = false): void {
    const { envelope, lane, warrant } = message;
    this.#underWay[lane] += 1;
    let settled = false;
    const settle = (reachable: boolean, reason: DropReason | undefined): void => {
      if (settled) return;
      settled = true;
      this.#underWay[lane] -= 1;
      if (this.#closed) return;
      this.#reachable = reachable;
      if (reason !== undefined) this.#dropped(reason);
      this.#next();
    };
    const request = this.#request({
      ...this.#options,
      agent: this.#agent,
      headers: {
        "content-type": MESSAGE_TYPE,
        "content-length": envelope.length,
        ...(warrant === undefined ? {} : { [WARRANT_HEADER]: Buffer.from(warrant).toString("base64url") }),
      },
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
      this.#underWay[lane] -= 1;
      this.#transmit(message, true);
    });
    request.on("socket", outlive);
    request.end(envelope);
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
      if (this.#closed || isRefused) return;
      isHandedOn = true;
      // Plain arrays: of a Buffer, `slice` shares what an array's copies.
      this.#received(new Uint8Array(Buffer.concat(chunks, length)), parcel);
    });
    response.on("close", () => {
      if (!isHandedOn) parcel.release();
    });
  }

  #next(): void {
    for (const lane of ["round", "bulk"] as const) {
      if (!this.#hasRoomFor(lane)) continue;
      const message = this.#waiting[lane].takeOldest();
      if (message !== undefined) return this.#transmit(message);
    }
  }
}
