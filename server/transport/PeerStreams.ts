/**
 * The streams on which other peers send: an HTTP/1.1 connection of the peer listener that became one (RFC 9110 7.8), so
 * that its TLS, its limits and its count are those of every other connection.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { STRANGER_BYTES } from "../../runtime/EnvelopeCodec.ts";
import {
  type FrameHeader,
  kinds,
  MAC_BYTES,
  NO_EXCHANGE,
  nextExchange,
  SHAKE_BYTES,
} from "../../runtime/transport/Frames.ts";
import type { Incoming } from "../../runtime/transport/Intake.ts";
import type { BodyAccount } from "../../runtime/BodyBudget.ts";
import { addressKey } from "../net/AddressKey.ts";
import { closeSoon } from "../net/CloseSoon.ts";
import type { ConnectionGuard } from "../net/ConnectionGuard.ts";
import type { ArrivalRoom } from "../../runtime/transport/ArrivalRoom.ts";
import { FrameSocket } from "./FrameSocket.ts";
import type { Greetings } from "./Greetings.ts";
import { type Outgoing, signedEnvelope } from "./Outgoing.ts";
import type { PeerEndpoint } from "./PeerListener.ts";
import { StreamSession } from "./StreamSession.ts";

/** Where the peer API takes a stream, and what it is called in `Upgrade`. */
export const STREAM_PATH = "/peer/v1/stream";
export const STREAM_PROTOCOL = "custody-peer/1";

const SWITCHING = `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${STREAM_PROTOCOL}\r\n\r\n`;
const NO_SUCH_STREAM = "HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

export interface StreamsPorts {
  readonly endpoint: PeerEndpoint;
  readonly arrivals: ArrivalRoom;
  readonly guard: ConnectionGuard;
  readonly greetings: Greetings;
}

/** Turns a connection into a stream, or refuses to. */
export const takeStream = (ports: StreamsPorts, request: IncomingMessage, socket: Duplex, head: Uint8Array): void => {
  if (request.url !== STREAM_PATH || request.headers.upgrade !== STREAM_PROTOCOL || request.method !== "GET")
    return closeSoon(socket, NO_SUCH_STREAM);
  socket.write(SWITCHING);
  request.socket.setTimeout(ports.guard.limits.idleMillis, () => socket.destroy());
  new PeerStream(ports, socket, addressKey(request.socket.remoteAddress)).start(head);
};

const isShake = (kind: number): boolean => kind === kinds.hello || kind === kinds.proof;

class PeerStream {
  readonly #ports: StreamsPorts;
  readonly #socket: Duplex;
  readonly #address: string;
  readonly #frames: FrameSocket;
  readonly #session: StreamSession;
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
      complete: (header, body) => this.#complete(header, body),
      closed: () => this.#room?.close(),
      refused: () => endpoint.answered(400),
      cut: (why) => guard.report(why === "slow sender" ? "slowRequest" : "slowReader"),
      writeMillis: guard.limits.writeMillis,
    });
    this.#session = new StreamSession(endpoint.session(), this.#frames);
  }

  start(head: Uint8Array): void {
    this.#frames.start(head);
  }

  #begin({ kind, exchange, length }: FrameHeader): string | undefined {
    if (isShake(kind))
      return exchange === NO_EXCHANGE && length <= SHAKE_BYTES ? undefined : "no such word of a handshake";
    if (kind === kinds.sealed && this.#session.member === undefined) return "there is no session";
    if (kind !== kinds.message && kind !== kinds.sealed) return `no frame to this end is of kind ${kind}`;
    if (exchange !== nextExchange(this.#last)) return `exchange ${exchange} is not the next one`;
    if (length > STRANGER_BYTES + (kind === kinds.sealed ? MAC_BYTES : 0))
      return `a message on a stream takes at most ${STRANGER_BYTES} bytes`;
    this.#last = exchange;
    return undefined;
  }

  #grow({ kind, length }: FrameHeader, bytes: number): boolean {
    if (isShake(kind)) return true;
    const { endpoint, arrivals, guard } = this.#ports;
    if (this.#room === undefined) {
      // What is sealed is read: only then can what comes behind it be opened.
      if (endpoint.intake.isBusy && kind !== kinds.sealed) return false;
      const isProven = guard.isProven(this.#socket);
      this.#room = arrivals.open({
        length: Math.min(length, STRANGER_BYTES),
        address: this.#address,
        isProven,
        warrant: undefined,
      });
    }
    return this.#room !== undefined && this.#room.take(bytes) === undefined;
  }

  #complete({ kind, exchange }: FrameHeader, body: Uint8Array | undefined): void {
    this.#room?.close();
    this.#room = undefined;
    if (isShake(kind)) return this.#shake(kind, body ?? new Uint8Array(0));
    const { intake } = this.#ports.endpoint;
    // What was thrown away cannot be opened, and nothing behind it: its place is taken.
    if (kind === kinds.sealed && body === undefined) return this.#frames.refuse("a sealed message found no room");
    if (body === undefined) return this.#incoming(exchange, undefined).refuse("no room", "");
    if (kind === kinds.message) return intake.receive(body, body.length, this.#incoming(exchange, undefined));
    const { member } = this.#session;
    const envelope = this.#session.open(exchange, body);
    if (envelope === undefined) return this.#frames.refuse("a message is not of this session");
    const incoming = this.#incoming(exchange, member);
    if (intake.isBusy) return incoming.refuse("no room", "");
    return intake.receive(envelope, envelope.length, incoming);
  }

  #shake(kind: number, body: Uint8Array): void {
    const { guard, greetings } = this.#ports;
    if (kind === kinds.hello && !greetings.take(this.#address, guard.isProven(this.#socket)))
      return this.#session.decline();
    const fault = this.#session.shake(kind, body);
    if (fault !== undefined) this.#frames.refuse(fault);
    else if (this.#session.member !== undefined) guard.prove(this.#socket);
  }

  #incoming(exchange: number, member: PeerId | undefined): Incoming<Outgoing> {
    const { endpoint, guard } = this.#ports;
    const { strangers } = endpoint;
    let isOver = false;
    const end = (status: number, kind: number, answer?: Outgoing): boolean => {
      if (isOver || !this.#frames.isOpen) return false;
      if (kind === kinds.answer && answer !== undefined) {
        if (this.#session.member !== undefined) this.#session.write(kinds.sealedAnswer, exchange, answer.packet);
        else {
          const packet = signedEnvelope(answer);
          if (packet === undefined) return false;
          this.#frames.write({ kind, exchange, length: packet.length }, packet);
        }
      } else this.#frames.write({ kind, exchange, length: 0 });
      isOver = true;
      endpoint.answered(status);
      return true;
    };
    return {
      member,
      mayAnswer: member !== undefined,
      scrutiny:
        member === undefined
          ? strangers.of(this.#address, guard.isProven(this.#socket))
          : strangers.of(`member ${member}`, true),
      refuse: (why) => void end(why !== "not opened" || !endpoint.initialized() ? 503 : 400, kinds.refused),
      end: (answer) => (answer === undefined ? end(204, kinds.taken) : end(200, kinds.answer, answer)),
    };
  }
}
