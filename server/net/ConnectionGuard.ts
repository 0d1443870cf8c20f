/**
 * Keeps callers from using up a listener: how many connections there are, how long a handshake and the reading of an
 * answer may take, and how many requests one connection may have under way. Strangers share room by address: when
 * it is full, an idle connection of the address that holds most gives way to one of an address that holds less. A
 * connection that breaks a bound is destroyed and never only ended, for ending waits for the other side.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { addressKey } from "./AddressKey.ts";
import type { ConnectionLimits } from "./ConnectionLimits.ts";
import { ConnectionShares } from "./ConnectionShares.ts";
import type { CutReason } from "./CutReport.ts";

/** How often deadlines are looked at, at most. */
const CHECK_MILLIS = 1_000;

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  readonly port: string;
  /** When the handshake must be over; undefined from then on. */
  handshakeUntil: number | undefined;
  isProven: boolean;
  /** Requests without a finished answer, and until when an answer that was written must be read. */
  readonly underWay: Map<ServerResponse, number | undefined>;
}

export class ConnectionGuard {
  readonly limits: ConnectionLimits;
  readonly #cut: (reason: CutReason) => void;
  readonly #elapsedMillis: () => number;
  readonly #open = new Set<Connection>();
  readonly #strangers = new ConnectionShares<Connection>();
  readonly #bySocket = new WeakMap<Duplex, Connection>();
  /** Handshakes under way, by the caller's address and port: TLS replaces the socket that came by another. */
  readonly #handshakes = new Map<string, Connection>();
  #proven = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param elapsedMillis a clock that never goes back, in milliseconds */
  constructor(limits: ConnectionLimits, cut: (reason: CutReason) => void, elapsedMillis: () => number) {
    this.limits = limits;
    this.#cut = cut;
    this.#elapsedMillis = elapsedMillis;
  }

  /** Connections open now. */
  get open(): number {
    return this.#open.size;
  }

  /** Stands before a server that has all its own listeners and does not listen yet. */
  watch(server: Server): void {
    const takers = server.listeners("connection");
    const isSecure = server instanceof HttpsServer;
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) => {
      if (this.#admit(socket, isSecure)) for (const take of takers) Reflect.apply(take, server, [socket]);
    });
    server.on("secureConnection", (secured: TLSSocket) => this.#shakenHands(secured));
    // The platform would wait for what it still has to write, to a peer that may not even speak TLS.
    server.prependListener("tlsClientError", (_error, failed: TLSSocket) => {
      const connection = this.#handshakes.get(portKey(failed));
      if (connection !== undefined) this.#failHandshake(connection);
    });
    server.on("close", () => clearInterval(this.#timer));
  }

  /** A handler that sees no more requests of one connection at once than may be under way. */
  bounded(handle: RequestListener): RequestListener {
    return (request, response) => {
      if (this.#begin(request, response)) handle(request, response);
    };
  }

  /** Ends the connections that do not speak HTTP yet, which the server knows nothing of. */
  closeHandshakes(): void {
    for (const { socket } of this.#handshakes.values()) socket.destroy();
  }

  /** Ends all connections. */
  closeAll(): void {
    for (const { socket } of this.#open) socket.destroy();
  }

  /** Whether a socket can be written to in HTTP: not before its handshake is over. */
  speaks(socket: Duplex): boolean {
    return this.#bySocket.has(socket);
  }

  /** Whether a connection has requests that are not answered yet. */
  isBusy(socket: Duplex): boolean {
    return (this.#bySocket.get(socket)?.underWay.size ?? 0) > 0;
  }

  /** Counts a connection that ends in another way. */
  report(reason: CutReason): void {
    this.#cut(reason);
  }

  /** Cuts a connection off. */
  cut(socket: Duplex, reason: CutReason): void {
    if (socket.destroyed) return;
    this.#cut(reason);
    socket.destroy();
  }

  /** Counts a connection separately from now on: its caller is authenticated. */
  prove(socket: Duplex): void {
    const connection = this.#bySocket.get(socket);
    if (connection === undefined || connection.isProven || this.#proven >= this.limits.provenConnections) return;
    if (!this.#open.has(connection)) return;
    this.#strangers.remove(connection.address, connection);
    connection.isProven = true;
    this.#proven += 1;
  }

  /** Whether the caller of a connection is authenticated. */
  isProven(socket: Duplex): boolean {
    return this.#bySocket.get(socket)?.isProven === true;
  }

  #admit(socket: Socket, isSecure: boolean): boolean {
    const { connections, connectionsPerAddress, handshakeMillis } = this.limits;
    const address = addressKey(socket.remoteAddress);
    if (this.#open.size - this.#proven >= connections) {
      const giving = this.#strangers.giving(address);
      this.cut(giving?.socket ?? socket, "tooMany");
      if (giving === undefined) return false;
      // Its place is free now, and not only when its end has been heard of.
      this.#forget(giving);
    }
    if (this.#strangers.of(address) >= connectionsPerAddress) {
      this.cut(socket, "tooManyOfOneAddress");
      return false;
    }
    const connection: Connection = {
      socket,
      address,
      port: portKey(socket),
      handshakeUntil: isSecure ? this.#elapsedMillis() + handshakeMillis : undefined,
      isProven: false,
      underWay: new Map(),
    };
    this.#open.add(connection);
    this.#strangers.add(address, connection);
    if (isSecure) this.#handshakes.set(connection.port, connection);
    else this.#bySocket.set(socket, connection);
    socket.on("close", () => this.#forget(connection));
    this.#timer ??= setInterval(() => this.#check(), this.#interval()).unref();
    return true;
  }

  #interval(): number {
    const { handshakeMillis, writeMillis } = this.limits;
    return Math.min(CHECK_MILLIS, handshakeMillis, writeMillis);
  }

  #shakenHands(secured: TLSSocket): void {
    const connection = this.#handshakes.get(portKey(secured));
    if (connection === undefined) return void secured.destroy();
    this.#endHandshake(connection);
    this.#bySocket.set(secured, connection);
    if (secured.authorized) this.prove(secured);
  }

  #begin({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const connection = this.#bySocket.get(socket);
    if (connection === undefined || socket.destroyed || !this.#open.has(connection)) return false;
    if (connection.underWay.size >= this.limits.requestsUnderWay) {
      this.cut(socket, "tooManyRequests");
      return false;
    }
    connection.underWay.set(response, undefined);
    if (this.#isStranger(connection)) this.#strangers.busy(connection.address, connection);
    response.on("close", () => {
      connection.underWay.delete(response);
      if (connection.underWay.size === 0 && this.#isStranger(connection))
        this.#strangers.idle(connection.address, connection);
    });
    return true;
  }

  #check(): void {
    const now = this.#elapsedMillis();
    for (const connection of this.#open) {
      const { socket, handshakeUntil, underWay } = connection;
      if (handshakeUntil !== undefined && now >= handshakeUntil) this.#failHandshake(connection);
      let isUnread = underWay.size > 0;
      for (const [response, until] of underWay) {
        isUnread &&= until !== undefined;
        if (!response.writableEnded) continue;
        if (until === undefined) underWay.set(response, now + this.limits.writeMillis);
        else if (now >= until) this.cut(socket, "slowReader");
      }
      // It has all its answers, and nobody does anything for it any more: its room is kept by not reading them.
      if (isUnread && this.#isStranger(connection)) this.#strangers.idle(connection.address, connection);
    }
  }

  #endHandshake(connection: Connection): void {
    connection.handshakeUntil = undefined;
    if (this.#handshakes.get(connection.port) === connection) this.#handshakes.delete(connection.port);
  }

  #failHandshake(connection: Connection): void {
    this.#endHandshake(connection);
    this.cut(connection.socket, "handshake");
  }

  #forget(connection: Connection): void {
    this.#endHandshake(connection);
    if (!this.#open.delete(connection)) return;
    if (connection.isProven) this.#proven -= 1;
    else this.#strangers.remove(connection.address, connection);
  }

  /** Whether it counts with those of callers who have not shown who they are. */
  #isStranger(connection: Connection): boolean {
    return !connection.isProven && this.#open.has(connection);
  }
}

const portKey = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress}|${remotePort}`;
