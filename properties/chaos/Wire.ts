/** The wires between peers: one TCP proxy on loopback for each direction, which can be cut, slowed and made to lie. */
import { createServer, connect, type Server, type Socket } from "node:net";

/** The treatment of connections and of the bytes on them, both ways. */
export type WireMode =
  | { readonly _tag: "Calm" }
  /** Every piece arrives later by this much. */
  | { readonly _tag: "Delay"; readonly millis: number }
  /** Open connections are reset and new ones closed at once. */
  | { readonly _tag: "Cut" }
  /** Connections are accepted and nothing ever comes through. */
  | { readonly _tag: "Swallow" }
  /** A connection is reset with every so many pieces, on average. */
  | { readonly _tag: "Flaky"; readonly perMille: number };

export const CALM: WireMode = { _tag: "Calm" };

/** A source is held up while this much of it waits. */
const MOST_WAITING_BYTES = 1024 * 1024;
const HOST = "127.0.0.1";

export interface WireOptions {
  /** The port of the peer at its far end. */
  readonly target: number;
  /** True `perMille` times in a thousand. */
  readonly chance: (perMille: number) => boolean;
}

export class Wire {
  readonly #options: WireOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #mode: WireMode = CALM;
  /** Connections reset so far. */
  resets = 0;

  private constructor(options: WireOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  /** Listens on a free port of 127.0.0.1. */
  static async open(options: WireOptions): Promise<Wire> {
    const wire = new Wire(options);
    await new Promise<void>((resolve, reject) => {
      wire.#server.once("error", reject);
      wire.#server.listen(0, HOST, () => resolve());
    });
    return wire;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  /** From now on. Bytes from a swallowed connection are lost: such connections are reset when the mode ends. */
  set mode(mode: WireMode) {
    const before = this.#mode._tag;
    this.#mode = mode;
    if (mode._tag === "Cut" || before === "Swallow") this.#reset();
  }

  async close(): Promise<void> {
    this.#reset();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
  }

  #reset(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.resets += this.#sockets.size / 2;
    this.#sockets.clear();
  }

  #accept(near: Socket): void {
    if (this.#mode._tag === "Cut") return void near.destroy();
    const far = connect({ host: HOST, port: this.#options.target, noDelay: true });
    near.setNoDelay(true);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      from.on("error", () => undefined);
      from.on("close", () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      this.#carry(from, to);
    }
  }

  #carry(from: Socket, to: Socket): void {
    /** Delayed pieces, in order; undefined stands for the end of the stream. */
    const late: Array<Uint8Array | undefined> = [];
    let waiting = 0;
    const deliver = (piece: Uint8Array | undefined): void => {
      if (piece === undefined) return void to.end();
      waiting -= piece.length;
      if (to.writable) to.write(piece);
      if (waiting < MOST_WAITING_BYTES && !to.writableNeedDrain) from.resume();
    };
    /** Each timer hands over the oldest piece, and nothing overtakes what still waits. */
    const pass = (piece: Uint8Array | undefined): void => {
      const millis = this.#mode._tag === "Delay" ? this.#mode.millis : 0;
      if (millis === 0 && late.length === 0) return deliver(piece);
      late.push(piece);
      setTimeout(() => deliver(late.shift()), millis);
    };
    to.on("drain", () => from.resume());
    from.on("data", (piece: Uint8Array) => {
      const mode = this.#mode;
      if (mode._tag === "Swallow") return;
      if (mode._tag === "Flaky" && this.#options.chance(mode.perMille)) {
        this.resets += 1;
        from.destroy();
        return;
      }
      waiting += piece.length;
      if (waiting >= MOST_WAITING_BYTES || to.writableNeedDrain) from.pause();
      pass(piece);
    });
    from.on("end", () => pass(undefined));
  }
}
