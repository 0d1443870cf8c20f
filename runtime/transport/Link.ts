/**
 * The link to one other peer: so many exchanges under way at once, and two short queues, so that rounds are not delayed
 * by any number of callers' messages. A message that does not get through is dropped and never repeated here; the
 * protocol sends again what still matters, at its own pace.
 *
 * What carries the messages is a port: kept-open connections, or a simulated network.
 */
import type { Lane } from "../../core/protocol/Lane.ts";
import { Outbox, type OutboxLimits, type Sendable } from "./Outbox.ts";

export interface LinkLimits extends OutboxLimits {
  /** Messages under way at once. */
  readonly connections: number;
  /** Of these, how many are never used for bulk. */
  readonly roundConnections: number;
}

export const linkLimits: LinkLimits = {
  connections: 16,
  roundConnections: 6,
  /** In each of the two queues. */
  queuedMessages: 1024,
  queuedBytes: 32 * 1024 * 1024,
};

/** Why a message did not get through; names for metrics. */
export type DropReason = "queue full" | "refused" | "unreachable" | "no room";

/**
 * How an exchange ended. `stale`: on a connection that the other side had closed while nothing used it, so that nobody
 * has taken the message.
 */
export type ExchangeEnd = "taken" | "refused" | "unreachable" | "stale";

/** One message on its way, and the answer to it. */
export class Exchange<M extends Sendable> {
  readonly message: M;
  /** Whether this is the second try. */
  readonly isAgain: boolean;
  readonly #link: Link<M>;
  #isOver = false;

  constructor(link: Link<M>, message: M, isAgain: boolean) {
    this.#link = link;
    this.message = message;
    this.isAgain = isAgain;
  }

  /** It is over; telling so again does nothing. */
  end(how: ExchangeEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#link.ended(this, how);
  }
}

export interface LinkPorts<M extends Sendable> {
  /** Puts a message on its way; its exchange is to be ended some time later. */
  readonly transmit: (exchange: Exchange<M>) => void;
  readonly dropped: (reason: DropReason, message: M) => void;
}

export class Link<M extends Sendable> {
  readonly #limits: LinkLimits;
  readonly #ports: LinkPorts<M>;
  readonly #waiting: { readonly [L in Lane]: Outbox<M> };
  readonly #underWay: { [L in Lane]: number } = { round: 0, bulk: 0 };
  #isClosed = false;
  #isReachable: boolean | undefined;

  constructor(ports: LinkPorts<M>, limits = linkLimits) {
    this.#ports = ports;
    this.#limits = limits;
    this.#waiting = { round: new Outbox(limits), bulk: new Outbox(limits) };
  }

  /** Whether the last message got an answer; undefined before the first. */
  get isReachable(): boolean | undefined {
    return this.#isReachable;
  }

  /**
   * Takes a message. When too many wait, the oldest of a round is dropped, since later ones say more; of bulk the
   * newest, since the first to come is the first to be served.
   */
  send(message: M): void {
    if (this.#isClosed) return;
    const { lane } = message;
    if (this.#hasRoomFor(lane)) return this.#transmit(message, false);
    const waiting = this.#waiting[lane];
    waiting.push(message);
    while (waiting.isOver) {
      const dropped = lane === "bulk" ? waiting.takeNewest() : waiting.takeOldest();
      if (dropped !== undefined) this.#ports.dropped("queue full", dropped);
    }
  }

  /** See {@link Exchange.end}. After a stale connection one more try is worth it. */
  ended({ message, isAgain }: Exchange<M>, how: ExchangeEnd): void {
    this.#underWay[message.lane] -= 1;
    if (this.#isClosed) return;
    if (how === "stale" && !isAgain) return this.#transmit(message, true);
    this.#isReachable = how === "taken" || how === "refused";
    if (how !== "taken") this.#ports.dropped(how === "refused" ? "refused" : "unreachable", message);
    this.#next();
  }

  /** Drops the waiting messages; none is sent from now on. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.round.clear();
    this.#waiting.bulk.clear();
  }

  #hasRoomFor(lane: Lane): boolean {
    const { round, bulk } = this.#underWay;
    const { connections, roundConnections } = this.#limits;
    return round + bulk < connections && (lane === "round" || bulk < connections - roundConnections);
  }

  #transmit(message: M, isAgain: boolean): void {
    this.#underWay[message.lane] += 1;
    this.#ports.transmit(new Exchange(this, message, isAgain));
  }

  #next(): void {
    for (const lane of ["round", "bulk"] as const) {
      if (!this.#hasRoomFor(lane)) continue;
      const message = this.#waiting[lane].takeOldest();
      if (message !== undefined) return this.#transmit(message, false);
    }
  }
}
