/**
 * Answers kept open for a moment. Most messages make this peer say something to their sender (a vote, an
 * acknowledgement); sent back as the answer to the request that brought the message, it saves a request of its own. A
 * message that takes longer, or goes to another peer, is sent in the ordinary way.
 */
import type { Message } from "../../core/Message.ts";
import type { ProtocolMessage } from "../../core/protocol/Message.ts";
import { isOfPromotion } from "../../core/protocol/PromotionMessages.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Time } from "../Time.ts";

/** Longer than a step with its flush, on a slow disk or a busy machine too: there a second request costs most. */
const HOLD_MILLIS = 250;
/** Requests of one peer kept open at once; more are answered at once. */
export const MOST_HELD = 64;

/** A message that another peer has sent, and that is not answered yet. */
export interface OpenExchange<M> {
  /** Answers it, with a message or with nothing; false when the other side has gone away. */
  readonly end: (answer: M | undefined) => boolean;
}

interface Held<M> {
  readonly exchange: OpenExchange<M>;
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

/**
 * Whether a message may go as an answer. Not what a stranger may have this peer say to a member, in whose name it asks
 * under a key of its own: what was kept open for that member's own question would be gone.
 */
export const mayAnswer = (message: Message): boolean => !message._tag.startsWith("Genesis") && !isOfPromotion(message);

export class HeldAnswers<M> {
  readonly #time: Time;
  readonly #most: number;
  /** By the peer that asked, the oldest first: all are kept for the same time. */
  readonly #held = new Map<PeerId, Array<Held<M>>>();
  #endWatch: (() => void) | undefined;

  /** @param most kept open for one peer at once */
  constructor(time: Time, most = MOST_HELD) {
    this.#time = time;
    this.#most = most;
  }

  /** Keeps an exchange open for the next message to `from`, for a moment. */
  hold(from: PeerId, exchange: OpenExchange<M>): void {
    let queue = this.#held.get(from);
    if (queue === undefined) {
      queue = [];
      this.#held.set(from, queue);
    }
    if (queue.length >= this.#most) return void exchange.end(undefined);
    queue.push({ exchange, until: this.#time.elapsedMillis() + HOLD_MILLIS });
    if (this.#endWatch === undefined) this.#watch(HOLD_MILLIS);
  }

  /** Sends a message as the oldest answer still open to this peer; false when there is none. */
  use(to: PeerId, message: M): boolean {
    const queue = this.#held.get(to);
    if (queue === undefined) return false;
    for (let held = queue.shift(); held !== undefined; held = queue.shift())
      if (held.exchange.end(message)) return true;
    return false;
  }

  /** Ends all exchanges with nothing. */
  release(): void {
    this.#endWatch?.();
    this.#endWatch = undefined;
    for (const queue of this.#held.values()) for (const { exchange } of queue.splice(0)) exchange.end(undefined);
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
      while ((queue[0]?.until ?? next) <= now) queue.shift()?.exchange.end(undefined);
      next = Math.min(next, queue[0]?.until ?? next);
    }
    if (next < Number.POSITIVE_INFINITY) this.#watch(Math.ceil(next - now));
  }
}
