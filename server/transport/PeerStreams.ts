/**
 * The streams on which other peers send: an HTTP/1.1 connection of the peer listener that became one (RFC 9110 7.8), so
 * that its TLS, its limits and its count are those of every other connection.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { STRANGER_BYTES } from "../../runtime/EnvelopeCodec.ts";
import { type FrameHeader, kinds, nextExchange } from "../../runtime/transport/Frames.ts";
import type { Incoming } from "../../runtime/transport/Intake.ts";
import type { BodyAccount } from "../http/BodyBudget.ts";
import { addressKey } from "../net/AddressKey.ts";
import { closeSoon } from "../net/CloseSoon.ts";
import type { ConnectionGuard } from "../net/ConnectionGuard.ts";
import type { ArrivalRoom } from "./ArrivalRoom.ts";
import { FrameSocket } from "./FrameSocket.ts";
import type { Outgoing } from "./Outgoing.ts";
import type { PeerEndpoint } from "./PeerListener.ts";

/** Where the peer API takes a stream, and what it is called in `Upgrade`. */
export const STREAM_PATH = "/peer/v1/stream";
export const STREAM_PROTOCOL = "custody-peer/1";

const SWITCHING = `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${STREAM_PROTOCOL}\r\n\r\n`;
const NO_SUCH_STREAM = "HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

export interface StreamsPorts {
  readonly endpoint: PeerEndpoint;
  readonly arrivals: ArrivalRoom;
  readonly guard: ConnectionGuard;
}

/** Turns a connection into a stream, or refuses to. */
export const takeStream = (ports: StreamsPorts, request: IncomingMessage, socket: Duplex, head: Uint8Array): void => {
  if (request.url !== STREAM_PATH || request.headers.upgrade !== STREAM_PROTOCOL || request.method !== "GET")
    return closeSoon(socket, NO_SUCH_STREAM);
  socket.write(SWITCHING);
  request.socket.setTimeout(ports.guard.limits.idleMillis, () => socket.destroy());
  new PeerStream(ports, socket, addressKey(request.socket.remoteAddress)).start(head);
};

class PeerStream {
  readonly #ports: StreamsPorts;
  readonly #socket: Duplex;
  readonly #address: string;
  readonly #frames: FrameSocket;
  /** Of the message that is arriving. */
  #room: BodyAccount | undefined;
  #last = 0;

  constructor(ports: StreamsPorts, socket: Duplex, address: string) {
    this.#ports = ports;
    this.#socket = socket;
    this.#address = address;
    const { guard, endpoint } = ports;
    this.#frames = new FrameSocket(socket, {
      begun: (header) => this.#begin(header),
      grown: (header, bytes) => this.#grow(header, bytes),
      complete: ({ exchange }, body) => this.#complete(exchange, body),
      closed: () => this.#room?.close(),
      refused: () => endpoint.answered(400),
      cut: (why) => guard.report(why === "slow sender" ? "slowRequest" : "slowReader"),
      writeMillis: guard.limits.writeMillis,
    });
  }

  start(head: Uint8Array): void {
    this.#frames.start(head);
  }

  #begin({ kind, exchange, length }: FrameHeader): string | undefined {
    if (kind !== kinds.message) return `no frame to this end is of kind ${kind}`;
    if (exchange !== nextExchange(this.#last)) return `exchange ${exchange} is not the next one`;
    if (length > STRANGER_BYTES) return `a message on a stream takes at most ${STRANGER_BYTES} bytes`;
    this.#last = exchange;
    return undefined;
  }

  #grow({ length }: FrameHeader, bytes: number): boolean {
    const { endpoint, arrivals, guard } = this.#ports;
    if (this.#room === undefined) {
      if (endpoint.intake.isBusy) return false;
      const isProven = guard.isProven(this.#socket);
      this.#room = arrivals.open({ length, address: this.#address, isProven, warrant: undefined });
    }
    return this.#room !== undefined && this.#room.take(bytes) === undefined;
  }

  #complete(exchange: number, body: Uint8Array | undefined): void {
    this.#room?.close();
    this.#room = undefined;
    const incoming = this.#incoming(exchange);
    if (body === undefined) incoming.refuse("no room", "");
    else this.#ports.endpoint.intake.receive(body, body.length, incoming);
  }

  #incoming(exchange: number): Incoming<Outgoing> {
    const { endpoint, guard } = this.#ports;
    let isOver = false;
    const end = (status: number, kind: number, body?: Uint8Array): boolean => {
      if (isOver || !this.#frames.isOpen) return false;
      isOver = true;
      this.#frames.write({ kind, exchange, length: body?.length ?? 0 }, body);
      endpoint.answered(status);
      return true;
    };
    return {
      proven: () => guard.prove(this.#socket),
      refuse: (why) => void end(why === "no room" || !endpoint.initialized() ? 503 : 400, kinds.refused),
      end: (answer) => (answer === undefined ? end(204, kinds.taken) : end(200, kinds.answer, answer.packet)),
    };
  }
}
