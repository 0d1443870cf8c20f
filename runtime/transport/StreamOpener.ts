/**
 * The end of a stream at which messages enter: numbers their exchanges, and ends each with what comes back for it. What
 * comes back and belongs to no exchange under way ends the stream.
 */
import { type FrameHeader, kinds, nextExchange } from "./Frames.ts";
import type { Exchange } from "./Link.ts";
import type { Sendable } from "./Outbox.ts";
import type { Time } from "../Time.ts";

/** A stream on which nothing came back for so long, though an exchange is under way, is given up. */
export const SILENCE_MILLIS = 5_000;
/** So it is, whatever else comes back, when an exchange has not ended for so many times that. */
const SILENCES_OF_ONE = 4;

interface UnderWay<M extends Sendable> {
  readonly exchange: Exchange<M>;
  /** When it was sent, by the clock of {@link Time}. */
  readonly at: number;
}

export interface OpenerPorts<M extends Sendable> {
  /** Puts a message into the stream under the number of its exchange. */
  readonly write: (exchange: number, message: M) => void;
  /** Nothing came back in time. */
  readonly silent: () => void;
  readonly time: Time;
}

export class StreamOpener<M extends Sendable> {
  readonly #ports: OpenerPorts<M>;
  readonly #silenceMillis: number;
  /** By number, the oldest first. */
  readonly #underWay = new Map<number, UnderWay<M>>();
  #endWatch: (() => void) | undefined;
  #last = 0;
  /** When anything came back last, by the clock of {@link Time}. */
  #heardAt = Number.NEGATIVE_INFINITY;
  /** Whether anything has come back since the stream was without an exchange under way; so it has when it is fresh. */
  #isHeard = true;

  constructor(ports: OpenerPorts<M>, silenceMillis = SILENCE_MILLIS) {
    this.#ports = ports;
    this.#silenceMillis = silenceMillis;
  }

  /** Exchanges under way. */
  get underWay(): number {
    return this.#underWay.size;
  }

  transmit(exchange: Exchange<M>): void {
    if (this.#underWay.size === 0 && this.#last > 0) this.#isHeard = false;
    this.#last = nextExchange(this.#last);
    this.#underWay.set(this.#last, { exchange, at: this.#ports.time.elapsedMillis() });
    if (this.#endWatch === undefined) this.#watch(this.#silenceMillis);
    this.#ports.write(this.#last, exchange.message);
  }

  /** Why such a frame may not come back; undefined where it may. */
  faultOf({ kind, exchange, length }: FrameHeader, most: number): string | undefined {
    const isAnswer = kind === kinds.answer || kind === kinds.sealedAnswer;
    if (kind !== kinds.taken && kind !== kinds.refused && !isAnswer) return `no frame is of kind ${kind}`;
    if (length > (isAnswer ? most : 0)) return `a frame of kind ${kind} has ${length} bytes`;
    return this.#underWay.has(exchange) ? undefined : `exchange ${exchange} is not under way`;
  }

  /** A part of an answer has come back. */
  heard(): void {
    this.#isHeard = true;
    this.#heardAt = this.#ports.time.elapsedMillis();
  }

  /** The other end has taken a message, or refused it. */
  ended(exchange: number, isTaken: boolean): void {
    this.heard();
    const ended = this.#underWay.get(exchange);
    this.#underWay.delete(exchange);
    ended?.exchange.end(isTaken ? "taken" : "refused");
  }

  /**
   * The stream is over. What entered it while it was idle, and was never heard of again, nobody has taken: the other end
   * had closed it before.
   *
   * @param isSilent given up because nothing came back in time
   */
  broken(isSilent: boolean): void {
    const how = this.#isHeard || isSilent ? "unreachable" : "stale";
    this.#endWatch?.();
    this.#endWatch = undefined;
    const left = [...this.#underWay.values()];
    this.#underWay.clear();
    for (const { exchange } of left) exchange.end(how);
  }

  /** One timer for all: it looks again when the oldest of those that are left is due. */
  #watch(afterMillis: number): void {
    this.#endWatch = this.#ports.time.later(() => this.#lookAtOldest(), afterMillis);
  }

  #lookAtOldest(): void {
    this.#endWatch = undefined;
    const [oldest] = this.#underWay.values();
    if (oldest === undefined) return;
    const silence = this.#silenceMillis;
    const until = Math.min(Math.max(oldest.at, this.#heardAt) + silence, oldest.at + SILENCES_OF_ONE * silence);
    const left = until - this.#ports.time.elapsedMillis();
    if (left > 0) this.#watch(Math.ceil(left));
    else this.#ports.silent();
  }
}
