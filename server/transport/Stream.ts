/**
 * The stream of messages to one other peer: opened when there is something to send, as an `Upgrade` of a connection to
 * its peer listener, and kept open. A peer of an earlier version, or a proxy before it, takes none; then messages are
 * handed on to go in another way.
 */
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { STRANGER_BYTES } from "../../runtime/EnvelopeCodec.ts";
import { type FrameHeader, kinds, MAC_BYTES, NO_EXCHANGE, SHAKE_BYTES } from "../../runtime/transport/Frames.ts";
import type { Exchange } from "../../runtime/transport/Link.ts";
import type { Parcel } from "../../runtime/transport/MailboxRoom.ts";
import type { Session } from "../../runtime/transport/Session.ts";
import { StreamOpener } from "../../runtime/transport/StreamOpener.ts";
import { whyBroken, whyLate } from "../net/Unreachable.ts";
import { later } from "../peer/MachineTime.ts";
import type { PeerClientTls } from "../tls/TlsMaterial.ts";
import { FrameSocket } from "./FrameSocket.ts";
import { maxEnvelopeBytes, type Outgoing, outlive, signedEnvelope, type WayOptions } from "./Outgoing.ts";
import { STREAM_PATH, STREAM_PROTOCOL } from "./PeerStreams.ts";
import { StreamSession } from "./StreamSession.ts";

/** How long a peer that took no stream is asked for none: as long as its upgrade takes, about. */
const REFUSED_MILLIS = 10_000;
/** Without a message for so long, a stream is closed by whoever opened it. */
const IDLE_MILLIS = 60_000;

/** How long a peer that wants no session is asked for none. */
const DECLINED_MILLIS = 500;

interface Opening {
  readonly waiting: Array<Exchange<Outgoing>>;
  readonly abort: () => void;
}

export interface StreamOptions extends WayOptions {
  readonly peerId: PeerId;
  /** The opening end of a session, for one stream. */
  readonly session: () => Session<Uint8Array>;
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

  /** Whether a session vouches for what is sent now. */
  get isInSession(): boolean {
    return this.#open?.isInSession === true;
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
    this.#retire();
  }

  #retire(): void {
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
    const tls = this.#tls;
    const request = (to.isSecure ? httpsRequest : httpRequest)({
      ...to.at,
      ...(to.isSecure ? tls : {}),
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
      // Others have come while it was asked for.
      if (tls !== this.#tls) this.#retire();
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
  readonly #session: StreamSession;
  /** The next session is asked for no sooner; undefined while an answer to that is awaited. */
  #greetsAt: number | undefined = 0;
  /** Of the answer that is arriving. */
  #parcel: Parcel | undefined;
  #isSilent = false;
  #isRetiring = false;

  constructor(socket: Duplex, options: StreamOptions, over: () => void) {
    const { timeoutMillis, ended } = options;
    this.#options = options;
    this.#opener = new StreamOpener<Outgoing>(
      {
        write: (exchange, message) => this.#write(exchange, message),
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
      begun: (header) => this.#faultOf(header),
      grown: ({ kind }, bytes) => kind === kinds.welcome || (this.#parcel ??= options.parcel()).grow(bytes),
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
    this.#session = new StreamSession(options.session(), this.#frames);
    if (socket instanceof Socket) socket.setTimeout(IDLE_MILLIS, () => socket.destroy());
  }

  get isInSession(): boolean {
    return this.#session.member !== undefined;
  }

  start(head: Uint8Array): void {
    this.#frames.start(head);
  }

  transmit(exchange: Exchange<Outgoing>): void {
    if (this.#greetsAt !== undefined && !this.isInSession && elapsedMillis() >= this.#greetsAt)
      this.#greetsAt = this.#session.greet(this.#options.peerId) ? undefined : elapsedMillis() + DECLINED_MILLIS;
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

  #write(exchange: number, message: Outgoing): void {
    if (this.isInSession) return this.#session.write(kinds.sealed, exchange, message.packet);
    const packet = signedEnvelope(message);
    // With its signature it may be too large for a stream, which would end all that is under way.
    if (packet !== undefined && packet.length <= STRANGER_BYTES)
      return this.#frames.write({ kind: kinds.message, exchange, length: packet.length }, packet);
    // The numbers of exchanges have no gaps.
    return this.#frames.write({ kind: kinds.message, exchange, length: 0 });
  }

  #faultOf(header: FrameHeader): string | undefined {
    const { kind, exchange, length } = header;
    if (kind !== kinds.welcome && kind !== kinds.declined)
      return this.#opener.faultOf(header, maxEnvelopeBytes + MAC_BYTES);
    const isAwaited = this.#greetsAt === undefined && exchange === NO_EXCHANGE;
    return isAwaited && length <= (kind === kinds.welcome ? SHAKE_BYTES : 0)
      ? undefined
      : "no such word of a handshake";
  }

  /** What came back for a greeting. */
  #greeted(kind: number, body: Uint8Array): void {
    this.#greetsAt = elapsedMillis() + DECLINED_MILLIS;
    const fault = kind === kinds.welcome ? this.#session.shake(kind, body) : undefined;
    if (fault !== undefined) this.#frames.refuse(fault);
  }

  /** What has come back as an answer, and of which member; undefined where it is not to be had. */
  #answer(kind: number, exchange: number, body: Uint8Array): readonly [Uint8Array, PeerId | undefined] | undefined {
    if (kind === kinds.answer) return [body, undefined];
    const { member } = this.#session;
    const envelope = this.#session.open(exchange, body);
    return envelope === undefined ? undefined : [envelope, member];
  }

  #complete({ kind, exchange }: FrameHeader, body: Uint8Array | undefined): void {
    if (kind === kinds.welcome || kind === kinds.declined) return this.#greeted(kind, body ?? new Uint8Array(0));
    const parcel = this.#parcel;
    this.#parcel = undefined;
    this.#options.ended(undefined);
    this.#opener.ended(exchange, kind !== kinds.refused);
    if (parcel !== undefined) {
      const answer = body && this.#answer(kind, exchange, body);
      if (answer !== undefined) this.#options.received(answer[0], parcel, answer[1]);
      else {
        parcel.release();
        if (body === undefined) this.#options.dropped("no room");
        // The place of a sealed answer is taken, so that nothing behind it could be opened.
        if (kind === kinds.sealedAnswer) this.#frames.refuse("an answer is not of this session");
      }
    }
    if (this.#isRetiring && this.#opener.underWay === 0) this.destroy();
  }
}
