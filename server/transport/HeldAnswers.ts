/**
 * Answers kept open for a moment. Most messages make this peer say something to their sender (a vote, an
 * acknowledgement); sent back as the answer to the request that brought the message, it saves a request of its own. A
 * message that takes longer, or goes to another peer, is sent in the ordinary way.
 */
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";

/** Longer than a step with its flush, on a slow disk or a busy machine too: there a second request costs most. */
const HOLD_MILLIS = 250;
/** Requests of one peer kept open at once; more are answered at once. */
const MOST_HELD = 64;

/** Ends an exchange, with an envelope or without; false when the other side has gone away. */
export type EndExchange = (envelope: Uint8Array | undefined) => boolean;

interface Held {
  readonly end: EndExchange;
  readonly timer: NodeJS.Timeout;
}

/** Whether a message asks for an immediate reply. */
export const asksBack = (message: Message): boolean => {
  switch (message._tag) {
    case "Prepare":
    case "ReadyProbe":
    case "SettleQuery":
    case "AbortRequest":
    case "StoredQuery":
      return true;
    case "Commit":
      return message.certificates.length > 0;
    default:
      return false;
  }
};

export class HeldAnswers {
  readonly #held = new Map<PeerId, Array<Held>>();

  /** Keeps an exchange open for the next message to `from`, for a moment. */
  hold(from: PeerId, end: EndExchange): void {
    const queue = this.#held.get(from) ?? [];
    this.#held.set(from, queue);
    if (queue.length >= MOST_HELD) return void end(undefined);
    const held: Held = {
      end,
      timer: setTimeout(() => {
        queue.splice(queue.indexOf(held), 1);
        end(undefined);
      }, HOLD_MILLIS),
    };
    queue.push(held);
  }

  /** Sends an envelope as the oldest answer still open to this peer; false when there is none. */
  use(to: PeerId, envelope: Uint8Array): boolean {
    const queue = this.#held.get(to) ?? [];
    for (let held = queue.shift(); held !== undefined; held = queue.shift()) {
      clearTimeout(held.timer);
      if (held.end(envelope)) return true;
    }
    return false;
  }

  /** Ends all exchanges with nothing. */
  release(): void {
    for (const queue of this.#held.values())
      for (const { end, timer } of queue.splice(0)) {
        clearTimeout(timer);
        end(undefined);
      }
  }
}
