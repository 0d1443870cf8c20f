/**
 * The way of callers' requests to the driver: a few at a time, and the rest in between what comes from the network. The
 * driver handles its mail in order and without a pause, so that a thousand requests arriving at once would otherwise
 * delay every vote behind them by a second.
 */
import type { Later } from "./Time.ts";

/** Hands one request to the driver; `consumed` is called when its step is done. */
export type Enter = (consumed: () => void) => void;

export class CommandGate {
  readonly #waiting: Array<Enter> = [];
  readonly #later: Later;
  readonly #most: number;
  #inside = 0;
  #isPlanned = false;

  /**
   * @param later runs what is due at once only after all that has arrived by then
   * @param most requests that may be in the driver's mailbox at once
   */
  constructor(later: Later, most: number) {
    this.#later = later;
    this.#most = most;
  }

  /** Requests that have not reached the driver yet. */
  get size(): number {
    return this.#waiting.length;
  }

  /** Enters at once where there is room, otherwise in its turn. */
  enter(enter: Enter): void {
    if (this.#inside < this.#most && this.#waiting.length === 0) return this.#admit(enter);
    this.#waiting.push(enter);
    this.#plan();
  }

  #admit(enter: Enter): void {
    this.#inside += 1;
    enter(() => {
      this.#inside -= 1;
      this.#plan();
    });
  }

  /** Goes on in a later turn, after what the network has brought by then. */
  #plan(): void {
    if (this.#isPlanned || this.#waiting.length === 0 || this.#inside >= this.#most) return;
    this.#isPlanned = true;
    this.#later(() => {
      this.#isPlanned = false;
      const room = this.#most - this.#inside;
      for (const enter of this.#waiting.splice(0, room)) this.#admit(enter);
      this.#plan();
    }, 0);
  }
}
