/**
 * What a session carries in runs of bytes, as frames of a stream: they come in pieces, and the runtime's reader puts
 * them together again. S50: each comes as it was sent, and nothing comes of one that may not.
 */
import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import {
  type FrameHeader,
  frameHeader,
  FrameReader,
  type FrameSink,
  HEADER_BYTES,
  kinds,
  MAC_BYTES,
} from "../../runtime/transport/Frames.ts";
import { Exchange, Link } from "../../runtime/transport/Link.ts";
import type { Sealed } from "../../runtime/transport/Session.ts";
import { StreamOpener } from "../../runtime/transport/StreamOpener.ts";
import { Violation } from "../base/Violation.ts";
import type { Letter } from "../network/Letter.ts";
import type { Packet } from "../network/Wire.ts";

/** Whatever an answer may have. */
const MOST_BYTES = 64 * 1024 * 1024;
/** The first piece of what comes has up to so many bytes. */
const FIRST_PIECES = HEADER_BYTES + 2;

interface Frame {
  readonly header: FrameHeader;
  /** Undefined where it was thrown away. */
  readonly body: Uint8Array | undefined;
}

export type MakeReader = (sink: FrameSink) => FrameReader;

const textOf = ({ header: { kind, exchange, length }, body }: Frame): string =>
  `kind ${kind}, exchange ${exchange}, ${length} bytes: ${body === undefined ? "thrown away" : bytesToHex(body)}`;

const frameOf = (kind: number, exchange: number, body: Uint8Array): Frame => ({
  header: { kind, exchange, length: body.length },
  body,
});

const written = (frames: ReadonlyArray<Frame>): Uint8Array =>
  concatBytes(...frames.flatMap(({ header, body = new Uint8Array(0) }) => [frameHeader(header), body]));

/** One end of a stream, to which frames come. */
class FrameEnd {
  readonly #reader: FrameReader;
  #come: Array<Frame> = [];
  #pieces = 0;

  constructor(faultOf: FrameSink["begun"], make: MakeReader) {
    this.#reader = make({
      begun: faultOf,
      // What no session vouches for finds no room.
      grown: ({ kind }) => kind !== kinds.message,
      complete: (header, body) => void this.#come.push({ header, body }),
    });
  }

  /** These come, in pieces; what is wrong with what comes of them. */
  take(frames: ReadonlyArray<Frame>): string | undefined {
    const bytes = written(frames);
    this.#pieces = (this.#pieces % FIRST_PIECES) + 1;
    const cuts = [0, this.#pieces, this.#pieces + HEADER_BYTES, bytes.length >> 1, bytes.length].toSorted(
      (one, other) => one - other,
    );
    const ends = new Set<number>();
    frames.reduce((before, { header }) => {
      const end = before + HEADER_BYTES + header.length;
      ends.add(end);
      return end;
    }, 0);
    let at = 0;
    for (const cut of cuts) {
      const end = Math.min(cut, bytes.length);
      if (end === at) continue;
      const fault = this.#reader.push(bytes.slice(at, end));
      if (fault !== undefined) return fault;
      if (this.#reader.isAmidst === ends.has(end)) return `its reader is mistaken about an end at ${end}`;
      at = end;
    }
    const expected = frames.map((each) =>
      textOf(each.header.kind === kinds.message ? { ...each, body: undefined } : each),
    );
    const come = this.#come.splice(0).map(textOf);
    return come.join("\n") === expected.join("\n") ? undefined : `there came ${come.join("; ") || "nothing"}`;
  }
}

/** Both ends of a stream, and what is under way on it. */
export class Framing {
  readonly #make: MakeReader;
  readonly #asked: StreamOpener<Letter>;
  readonly #opener: FrameEnd;
  readonly #accepter: FrameEnd;
  readonly #over = new Set<number>();
  readonly #link = new Link<Letter>({ transmit: () => undefined, dropped: () => undefined });
  #last = 0;
  #isOfBytes = false;

  constructor(make: MakeReader = (sink) => new FrameReader(sink)) {
    this.#make = make;
    this.#asked = new StreamOpener<Letter>({
      write: (exchange) => void (this.#last = exchange),
      silent: () => undefined,
      // Who gives up a stream is no matter here.
      time: { elapsedMillis: () => 0, later: () => () => undefined },
    });
    this.#opener = new FrameEnd((header) => this.#asked.faultOf(header, MOST_BYTES), make);
    this.#accepter = new FrameEnd(() => undefined, make);
  }

  /** A message leaves; the number of its exchange. */
  departs(letter: Letter): number {
    this.#isOfBytes = letter.packet._tag === "Bytes";
    this.#asked.transmit(new Exchange(this.#link, letter, false));
    return this.#last;
  }

  /** What is sealed comes to the end that it is for. */
  comes(isAnswer: boolean, exchange: number, sealed: Sealed<Packet>): void {
    const frame = this.#sealedIn(isAnswer, exchange, sealed);
    if (frame !== undefined) {
      // Before a message may come others, that no session vouches for.
      const others = isAnswer ? [] : [frameOf(kinds.message, exchange, new Uint8Array(1 + (exchange % 3)))];
      this.#assert((isAnswer ? this.#opener : this.#accepter).take([...others, frame]), frame);
    }
    if (isAnswer) this.#end(exchange, true);
  }

  /** An answer comes that has come before. */
  comesAgain(exchange: number, sealed: Sealed<Packet>): void {
    const frame = this.#sealedIn(true, exchange, sealed);
    if (frame !== undefined && this.#over.has(exchange)) this.#assertRefused(frame);
  }

  /** An exchange ends without an answer. */
  ends(exchange: number, isTaken: boolean): void {
    if (this.#over.has(exchange)) return;
    if (this.#isOfBytes) this.#comesBack(exchange, isTaken);
    this.#end(exchange, isTaken);
  }

  #comesBack(exchange: number, isTaken: boolean): void {
    const nothing = new Uint8Array(0);
    // What a member may send that lies.
    this.#assertRefused(frameOf(kinds.message, exchange, nothing));
    this.#assertRefused(frameOf(kinds.taken, exchange + 1_000_000, nothing));
    this.#assertRefused(frameOf(isTaken ? kinds.taken : kinds.refused, exchange, Uint8Array.of(1)));
    const frame = frameOf(isTaken ? kinds.taken : kinds.refused, exchange, nothing);
    this.#assert(this.#opener.take([frame]), frame);
  }

  #end(exchange: number, isTaken: boolean): void {
    this.#over.add(exchange);
    this.#asked.ended(exchange, isTaken);
  }

  #sealedIn(isAnswer: boolean, exchange: number, { content, mac }: Sealed<Packet>): Frame | undefined {
    if (content._tag !== "Bytes") return undefined;
    const body = new Uint8Array(MAC_BYTES + content.bytes.length);
    body.set(hexToBytes(mac));
    body.set(content.bytes, MAC_BYTES);
    return frameOf(isAnswer ? kinds.sealedAnswer : kinds.sealed, exchange, body);
  }

  #assert(fault: string | undefined, { header: { kind, exchange, length } }: Frame): void {
    if (fault === undefined) return;
    throw new Violation(
      "S50",
      `a frame of kind ${kind} with ${length} bytes came in exchange ${exchange} of a stream`,
      fault,
    );
  }

  /** Nothing may come of it, nor of what is behind it. */
  #assertRefused(frame: Frame): void {
    const come: Array<Frame> = [];
    const reader = this.#make({
      begun: (header) => this.#asked.faultOf(header, MOST_BYTES),
      grown: () => true,
      complete: (header, body) => void come.push({ header, body }),
    });
    const fault = reader.push(written([frame, frame]));
    if (fault !== undefined && come.length === 0) return;
    throw new Violation("S50", `a frame came that may not: ${textOf(frame)}`, "the stream goes on");
  }
}
