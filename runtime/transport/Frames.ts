/**
 * How messages are cut out of a stream: each frame has a header of nine bytes (kind, number of its exchange, length of
 * its body) and a body. Whoever reads one is hostile until shown otherwise: a header that may not come ends the stream.
 */
import { GrowingBytes } from "../GrowingBytes.ts";

export const HEADER_BYTES = 9;

/**
 * From the opener of a stream: a message; to open a session, `hello` and `proof`. From the other end: that a message was
 * taken, with an answer or not, or refused; `welcome`, or that there is to be no session now. What is sealed, a session
 * vouches for.
 */
export const kinds = {
  message: 1,
  taken: 2,
  answer: 3,
  refused: 4,
  hello: 5,
  welcome: 6,
  proof: 7,
  declined: 8,
  sealed: 9,
  sealedAnswer: 10,
} as const;
/** The most bytes that a word of the handshake has, and the exchange it belongs to. */
export const SHAKE_BYTES = 1024;
export const NO_EXCHANGE = 0;
/** Before what is sealed. */
export const MAC_BYTES = 32;

export interface FrameHeader {
  readonly kind: number;
  /** Numbers of exchanges begin with 1 on every stream and wrap behind 2^32 - 1. */
  readonly exchange: number;
  /** Bytes of the body. */
  readonly length: number;
}

export const nextExchange = (exchange: number): number => (exchange === 0xffffffff ? 1 : exchange + 1);

export const frameHeader = ({ kind, exchange, length }: FrameHeader): Uint8Array => {
  const bytes = new Uint8Array(HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, kind);
  view.setUint32(1, exchange);
  view.setUint32(5, length);
  return bytes;
};

/** What is done with the frames that are read. */
export interface FrameSink {
  /** A header has come; a text says why none such may, and ends the stream. */
  readonly begun: (header: FrameHeader) => string | undefined;
  /** So many more bytes of the body have come; false throws this body away. */
  readonly grown: (header: FrameHeader, bytes: number) => boolean;
  /** All of a frame has come; the body is undefined where it was thrown away. */
  readonly complete: (header: FrameHeader, body: Uint8Array | undefined) => void;
}

interface Begun {
  readonly header: FrameHeader;
  /** What has come of the body; undefined where it is thrown away. */
  body: GrowingBytes | undefined;
  missing: number;
}

export class FrameReader {
  readonly #sink: FrameSink;
  /** Of a header that has not come as a whole. */
  readonly #head = new Uint8Array(HEADER_BYTES);
  #headLength = 0;
  #begun: Begun | undefined;
  #fault: string | undefined;

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  /** Whether a part of a frame has come. */
  get isAmidst(): boolean {
    return this.#headLength > 0 || this.#begun !== undefined;
  }

  /**
   * Takes in what has come. Bodies that come in one piece share its memory.
   *
   * @returns why the stream must end; undefined as long as it may go on
   */
  push(bytes: Uint8Array): string | undefined {
    let at = 0;
    while (at < bytes.length && this.#fault === undefined) {
      if (this.#begun === undefined) at += this.#takeHeader(bytes, at);
      else at += this.#takeBody(this.#begun, bytes, at);
    }
    return this.#fault;
  }

  #takeHeader(bytes: Uint8Array, at: number): number {
    const taken = Math.min(HEADER_BYTES - this.#headLength, bytes.length - at);
    this.#head.set(bytes.subarray(at, at + taken), this.#headLength);
    this.#headLength += taken;
    if (this.#headLength < HEADER_BYTES) return taken;
    this.#headLength = 0;
    const view = new DataView(this.#head.buffer);
    const header = { kind: view.getUint8(0), exchange: view.getUint32(1), length: view.getUint32(5) };
    this.#fault = this.#sink.begun(header);
    if (this.#fault !== undefined) return taken;
    if (header.length === 0) this.#sink.complete(header, new Uint8Array(0));
    else this.#begun = { header, body: new GrowingBytes(header.length), missing: header.length };
    return taken;
  }

  #takeBody(begun: Begun, bytes: Uint8Array, at: number): number {
    const { header } = begun;
    const taken = Math.min(begun.missing, bytes.length - at);
    begun.missing -= taken;
    if (begun.body !== undefined && !this.#sink.grown(header, taken)) begun.body = undefined;
    // A plain array: of what a socket gives, `slice` shares what an array's copies.
    const piece = new Uint8Array(bytes.buffer, bytes.byteOffset + at, taken);
    const isAll = taken === header.length;
    if (!isAll) begun.body?.add(piece);
    if (begun.missing === 0) {
      this.#begun = undefined;
      this.#sink.complete(header, isAll && begun.body !== undefined ? piece : begun.body?.whole());
    }
    return taken;
  }
}
