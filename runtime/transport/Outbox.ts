/** The messages of one lane that wait for their turn on a link, the oldest first. */
import type { Lane } from "../../core/protocol/Lane.ts";

/** What a link carries, whatever else it is. */
export interface Sendable {
  readonly lane: Lane;
  readonly bytes: number;
}

export interface OutboxLimits {
  readonly queuedMessages: number;
  readonly queuedBytes: number;
}

export class Outbox<M extends Sendable> {
  readonly #messages: Array<M> = [];
  readonly #limits: OutboxLimits;
  #bytes = 0;

  constructor(limits: OutboxLimits) {
    this.#limits = limits;
  }

  /** Whether more waits than may. */
  get isOver(): boolean {
    return this.#messages.length > this.#limits.queuedMessages || this.#bytes > this.#limits.queuedBytes;
  }

  push(message: M): void {
    this.#messages.push(message);
    this.#bytes += message.bytes;
  }

  takeOldest(): M | undefined {
    return this.#without(this.#messages.shift());
  }

  takeNewest(): M | undefined {
    return this.#without(this.#messages.pop());
  }

  clear(): void {
    this.#messages.length = 0;
    this.#bytes = 0;
  }

  #without(message: M | undefined): M | undefined {
    this.#bytes -= message?.bytes ?? 0;
    return message;
  }
}
