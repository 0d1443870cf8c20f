/**
 * A connection that carries frames, in both directions: what is written without a pause leaves in one write, and a side
 * that stops in the middle of a frame, or reads nothing, is cut off.
 */
import type { Duplex } from "node:stream";
import { type FrameHeader, frameHeader, FrameReader, type FrameSink } from "../../runtime/transport/Frames.ts";

/** To the end of a frame that has begun, and beyond it as long as the slowest line takes for its body. */
const FRAME_MILLIS = 10_000;
/** Bytes a millisecond that a line must carry. */
const SLOWEST_LINE = 16;
/** Bytes that wait to be written beyond which nothing more is read from whoever does not read. */
const MOST_UNREAD_BYTES = 1024 * 1024;

export interface FrameSocketPorts extends FrameSink {
  /** It is over; `code` is the platform's name of the fault, if there was one. */
  readonly closed: (code: string | undefined) => void;
  /** What has come is not to be read any further: why. The connection is closed. */
  readonly refused: (why: string) => void;
  /** It is cut off: the other side stopped in the middle of a frame, or does not read. */
  readonly cut: (why: "slow sender" | "slow reader") => void;
  /** Until what is written must be read, in milliseconds, beyond what the slowest line takes for it. */
  readonly writeMillis: number;
}

export class FrameSocket {
  readonly #socket: Duplex;
  readonly #ports: FrameSocketPorts;
  readonly #reader: FrameReader;
  #isCorked = false;
  /** For the frame that has begun. */
  #frameMillis = FRAME_MILLIS;
  #frameTimer: NodeJS.Timeout | undefined;
  #writeTimer: NodeJS.Timeout | undefined;

  constructor(socket: Duplex, ports: FrameSocketPorts) {
    this.#socket = socket;
    this.#ports = ports;
    this.#reader = new FrameReader({
      ...ports,
      begun: (header) => {
        this.#endFrame();
        this.#frameMillis = FRAME_MILLIS + header.length / SLOWEST_LINE;
        return ports.begun(header);
      },
      complete: (header, body) => {
        this.#endFrame();
        ports.complete(header, body);
      },
    });
    let code: string | undefined;
    socket.on("error", (error: NodeJS.ErrnoException) => void (code = error.code ?? "ERROR"));
    socket.on("close", () => {
      this.#endFrame();
      clearTimeout(this.#writeTimer);
      ports.closed(code);
    });
    socket.on("end", () => socket.destroy());
    socket.on("drain", () => {
      clearTimeout(this.#writeTimer);
      this.#writeTimer = undefined;
      socket.resume();
    });
  }

  /** @param head what has come on the socket already */
  start(head: Uint8Array): void {
    if (head.length > 0) this.#read(head);
    this.#socket.on("data", (chunk: Uint8Array) => this.#read(chunk));
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writable;
  }

  /** Writes one frame; the parts of its body must not change any more. */
  write(header: FrameHeader, ...body: ReadonlyArray<Uint8Array>): void {
    const socket = this.#socket;
    if (!this.isOpen) return;
    if (!this.#isCorked) {
      this.#isCorked = true;
      socket.cork();
      process.nextTick(() => {
        this.#isCorked = false;
        socket.uncork();
        if (socket.writableNeedDrain) this.#awaitReader();
      });
    }
    socket.write(frameHeader(header));
    for (const part of body) if (part.length > 0) socket.write(part);
  }

  /** Ends it for what has come. */
  refuse(why: string): void {
    this.#ports.refused(why);
    this.destroy();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #read(bytes: Uint8Array): void {
    if (this.#socket.destroyed) return;
    const fault = this.#reader.push(bytes);
    if (this.#socket.destroyed) return;
    if (fault !== undefined) return this.refuse(fault);
    if (this.#reader.isAmidst) this.#frameTimer ??= setTimeout(() => this.#cut("slow sender"), this.#frameMillis);
    if (this.#socket.writableLength > MOST_UNREAD_BYTES) this.#socket.pause();
  }

  #endFrame(): void {
    clearTimeout(this.#frameTimer);
    this.#frameTimer = undefined;
    this.#frameMillis = FRAME_MILLIS;
  }

  #awaitReader(): void {
    const millis = this.#ports.writeMillis + this.#socket.writableLength / SLOWEST_LINE;
    this.#writeTimer ??= setTimeout(() => this.#cut("slow reader"), millis);
  }

  #cut(why: "slow sender" | "slow reader"): void {
    this.#ports.cut(why);
    this.destroy();
  }
}
