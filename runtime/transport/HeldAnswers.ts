/**
 * Answers kept open for a moment. Most messages make this peer say something to their sender (a vote, an
 * acknowledgement); sent back as the answer to the request that brought the message, it saves a request of its own. A
 * message that takes longer, or goes to another peer, is sent in the ordinary way.
 */
import type { Message } from "../../core/Message.ts";
import type { ProtocolMessage } from "../../core/protocol/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Time } from "../Time.ts";

/** Longer than a step with its flush, on a slow disk or a busy machine too: there a second request costs most. */
const HOLD_MILLIS = 250;
/** Requests of one peer kept open at once; more are answered at once. */
export const MOST_HELD = 64;

/** Ends an exchange, with a packet or without; false when the other side has gone away. */
export type EndExchange<P> = (packet: P | undefined) => boolean;

interface Held<P> {
  readonly end: EndExchange<P>;
  /** By the clock of {@link Time}. */
  readonly until: number;
}

const asking: ReadonlySet<string> = new Set<ProtocolMessage["_tag"]>([
  "Prepare",
  "ReadyProbe",
  "SettleQuery",
  "AbortRequest",
  "StoredQuery",
]);

/** Whether a message asks for an immediate reply. */
export const asksBack = (message: Message): boolean =>
  asking.has(message._tag) || (message._tag === "Commit" && message.certificates.length > 0);

export class HeldAnswers<P> {
  readonly #time: Time;
  readonly #most: number;
  /** By the peer that asked, the oldest first: all are kept for the same time. */
  readonly #held = new Map<PeerId, Array<Held<P>>>();
  #endWatch: (() => void) | undefined;

  /** @param most kept open for one peer at once */
  constructor(time: Time, most = MOST_HELD) {
    this.#time = time;
    this.#most = most;
  }

  /** Keeps an exchange open for the next message to `from`, for a moment. */
  hold(from: PeerId, end: EndExchange<P>): void {
    let queue = this.#held.get(from);
    if (queue === undefined) {
      queue = [];
      this.#held.set(from, queue);
    }
    if (queue.length >= this.#most) return void end(undefined);
    queue.push({ end, until: this.#time.elapsedMillis() + HOLD_MILLIS });
    if (this.#endWatch === undefined) this.#watch(HOLD_MILLIS);
  }

  /** Sends a packet as the oldest answer still open to this peer; false when there is none. */
  use(to: PeerId, packet: P): boolean {
    const queue = this.#held.get(to);
    if (queue === undefined) return false;
    for (let held = queue.shift(); held !== undefined; held = queue.shift()) if (held.end(packet)) return true;
    return false;
  }

  /** Ends all exchanges with nothing. */
  release(): void {
    this.#endWatch?.();
    this.#endWatch = undefined;
    for (const queue of this.#held.values()) for (const { end } of queue.splice(0)) end(undefined);
  }

  /** One timer for all: it looks again when the oldest of those that are left is due. */
  #watch(afterMillis: number): void {
    this.#endWatch = this.#time.later(() => this.#endOverdue(), afterMillis);
  }

  #endOverdue(): void {
    this.#endWatch = undefined;
    const now = this.#time.elapsedMillis();
    let next = Number.POSITIVE_INFINITY;
    for (const queue of this.#held.values()) {
      while ((queue[0]?.until ?? next) <= now) queue.shift()?.end(undefined);
      next = Math.min(next, queue[0]?.until ?? next);
    }
    if (next < Number.POSITIVE_INFINITY) this.#watch(Math.ceil(next - now));
  }
}
