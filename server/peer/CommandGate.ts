/**
 * The way of callers' requests to the driver: a few at a time, and the rest in between what comes from the network. The
 * driver handles its mail in order and without a pause, so that a thousand requests arriving at once would otherwise
 * delay every vote behind them by a second.
 */

/** Requests that may be in the driver's mailbox at once. */
const AT_ONCE = 16;

/** Hands one request to the driver; `consumed` is called when its step is done. */
type Enter = (consumed: () => void) => void;

export class CommandGate {
  readonly #waiting: Array<Enter> = [];
  #inside = 0;
  #isPlanned = false;

  /** Requests that have not reached the driver yet. */
  get size(): number {
    return this.#waiting.length;
  }

  /** Enters at once where there is room, otherwise in its turn. */
  enter(enter: Enter): void {
    if (this.#inside < AT_ONCE && this.#waiting.length === 0) return this.#admit(enter);
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

  /** Goes on in a later turn of the event loop, after what the network has brought by then. */
  #plan(): void {
    if (this.#isPlanned || this.#waiting.length === 0 || this.#inside >= AT_ONCE) return;
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      const room = AT_ONCE - this.#inside;
      for (const enter of this.#waiting.splice(0, room)) this.#admit(enter);
      this.#plan();
    });
  }
}
