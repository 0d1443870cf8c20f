/**
 * The stream of messages to one other peer: opened when there is something to send, as an `Upgrade` of a connection to
 * its peer listener, and kept open. A peer of an earlier version, or a proxy before it, takes none; then messages are
 * handed on to go in another way.
 */
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type FrameHeader, kinds } from "../../runtime/transport/Frames.ts";
import type { Exchange } from "../../runtime/transport/Link.ts";
import type { Parcel } from "../../runtime/transport/MailboxRoom.ts";
import { StreamOpener } from "../../runtime/transport/StreamOpener.ts";
import { whyBroken, whyLate } from "../net/Unreachable.ts";
import { later } from "../peer/MachineTime.ts";
import type { PeerClientTls } from "../tls/TlsMaterial.ts";
import { FrameSocket } from "./FrameSocket.ts";
import { maxEnvelopeBytes, type Outgoing, outlive, type WayOptions } from "./Outgoing.ts";
import { STREAM_PATH, STREAM_PROTOCOL } from "./PeerStreams.ts";

/** How long a peer that took no stream is asked for none: as long as its upgrade takes, about. */
const REFUSED_MILLIS = 10_000;
/** Without a message for so long, a stream is closed by whoever opened it. */
const IDLE_MILLIS = 60_000;

interface Opening {
  readonly waiting: Array<Exchange<Outgoing>>;
  readonly abort: () => void;
}

export interface StreamOptions extends WayOptions {
  /** Sends a message to a peer that takes no stream. */
  readonly otherwise: (exchange: Exchange<Outgoing>) => void;
}

const elapsedMillis = (): number => performance.now();

export class Stream {
  readonly #options: StreamOptions;
  #tls: PeerClientTls;
  #opening: Opening | undefined;
  #open: OpenStream | undefined;
  readonly #retiring = new Set<OpenStream>();
  #refusedUntil = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: StreamOptions) {
    this.#options = options;
    this.#tls = options.tls;
  }

  transmit(exchange: Exchange<Outgoing>): void {
    if (this.#open !== undefined) return this.#open.transmit(exchange);
    if (this.#opening !== undefined) return void this.#opening.waiting.push(exchange);
    if (elapsedMillis() < this.#refusedUntil) return this.#options.otherwise(exchange);
    this.#opening = this.#ask([exchange]);
  }

  /** The next stream shows and trusts these certificates; the one that is open ends once nothing on it is under way. */
  renew(tls: PeerClientTls): void {
    this.#tls = tls;
    this.#refusedUntil = Number.NEGATIVE_INFINITY;
    const before = this.#open;
    this.#open = undefined;
    if (before === undefined) return;
    this.#retiring.add(before);
    before.retire();
  }

  close(): void {
    this.#isClosed = true;
    this.#opening?.abort();
    this.#open?.destroy();
    for (const each of this.#retiring) each.destroy();
  }

  #ask(waiting: Array<Exchange<Outgoing>>): Opening {
    const { to, timeoutMillis, otherwise } = this.#options;
    const request = (to.isSecure ? httpsRequest : httpRequest)({
      ...to.at,
      ...(to.isSecure ? this.#tls : {}),
      method: "GET",
      path: STREAM_PATH,
      timeout: timeoutMillis,
      agent: false,
      headers: { connection: "Upgrade", upgrade: STREAM_PROTOCOL },
    });
    let timedOut = false;
    request.on("socket", outlive);
    request.on("timeout", () => {
      timedOut = true;
      request.destroy();
    });
    request.on("upgrade", (_response, socket, head) => {
      this.#opening = undefined;
      request.removeAllListeners("timeout");
      if (this.#isClosed) return void socket.destroy();
      this.#open = this.#opened(socket, head);
      for (const exchange of waiting.splice(0)) this.#open.transmit(exchange);
    });
    request.on("response", (response) => {
      response.on("error", () => undefined);
      response.resume();
      request.destroy();
      this.#opening = undefined;
      this.#refusedUntil = elapsedMillis() + REFUSED_MILLIS;
      for (const exchange of waiting.splice(0)) otherwise(exchange);
    });
    request.on("error", (error: NodeJS.ErrnoException) => {
      if (this.#opening?.waiting === waiting) this.#opening = undefined;
      const left = waiting.splice(0);
      if (left.length > 0 && !this.#isClosed)
        this.#options.ended(timedOut ? whyLate(timeoutMillis) : whyBroken(error.code));
      for (const exchange of left) exchange.end("unreachable");
    });
    request.end();
    return { waiting, abort: () => request.destroy() };
  }

  #opened(socket: Duplex, head: Uint8Array): OpenStream {
    const stream = new OpenStream(socket, this.#options, () => {
      this.#retiring.delete(stream);
      if (this.#open === stream) this.#open = undefined;
    });
    stream.start(head);
    return stream;
  }
}

class OpenStream {
  readonly #frames: FrameSocket;
  readonly #opener: StreamOpener<Outgoing>;
  readonly #options: StreamOptions;
  /** Of the answer that is arriving. */
  #parcel: Parcel | undefined;
  #isSilent = false;
  #isRetiring = false;

  constructor(socket: Duplex, options: StreamOptions, over: () => void) {
    const { timeoutMillis, ended } = options;
    this.#options = options;
    this.#opener = new StreamOpener<Outgoing>(
      {
        write: (exchange, { packet }) =>
          this.#frames.write({ kind: kinds.message, exchange, length: packet.length }, packet),
        silent: () => {
          this.#isSilent = true;
          this.destroy();
        },
        time: { elapsedMillis, later },
      },
      timeoutMillis,
    );
    let why: string | undefined;
    this.#frames = new FrameSocket(socket, {
      begun: (header) => this.#opener.faultOf(header, maxEnvelopeBytes),
      grown: (_header, bytes) => (this.#parcel ??= options.parcel()).grow(bytes),
      complete: (header, body) => this.#complete(header, body),
      refused: (fault) => (why = `what it sends is no stream of messages: ${fault}; look at its version`),
      cut: () => undefined,
      closed: (code) => {
        over();
        this.#parcel?.release();
        if (this.#opener.underWay > 0) ended(this.#isSilent ? whyLate(timeoutMillis) : (why ?? whyBroken(code)));
        this.#opener.broken(this.#isSilent);
      },
      writeMillis: timeoutMillis,
    });
    if (socket instanceof Socket) socket.setTimeout(IDLE_MILLIS, () => socket.destroy());
  }

  start(head: Uint8Array): void {
    this.#frames.start(head);
  }

  transmit(exchange: Exchange<Outgoing>): void {
    this.#opener.transmit(exchange);
  }

  /** Ends it once nothing on it is under way. */
  retire(): void {
    this.#isRetiring = true;
    if (this.#opener.underWay === 0) this.destroy();
  }

  destroy(): void {
    this.#frames.destroy();
  }

  #complete({ kind, exchange }: FrameHeader, body: Uint8Array | undefined): void {
    const parcel = this.#parcel;
    this.#parcel = undefined;
    this.#options.ended(undefined);
    this.#opener.ended(exchange, kind !== kinds.refused);
    if (kind === kinds.answer && parcel !== undefined) {
      if (body !== undefined) this.#options.received(body, parcel);
      else {
        parcel.release();
        this.#options.dropped("no room");
      }
    }
    if (this.#isRetiring && this.#opener.underWay === 0) this.destroy();
  }
}
