/** The protocol's named timers on the machine's clock. */
import type { TimerName } from "../../core/protocol/Event.ts";

const later = (run: () => void, afterMillis: number): (() => void) => {
  const timeout = setTimeout(run, afterMillis);
  return () => clearTimeout(timeout);
};

/** After the events that have arrived by now; a timeout of zero would wait for a whole millisecond. */
const soon = (run: () => void): (() => void) => {
  const immediate = setImmediate(run);
  return () => clearImmediate(immediate);
};

export class Timers {
  readonly #running = new Map<TimerName, () => void>();
  readonly #fire: (timer: TimerName) => void;

  constructor(fire: (timer: TimerName) => void) {
    this.#fire = fire;
  }

  /** Fires once after the delay; a timer of the same name that runs already is replaced. */
  set(timer: TimerName, afterMillis: number): void {
    this.#running.get(timer)?.();
    const fire = (): void => {
      this.#running.delete(timer);
      this.#fire(timer);
    };
    this.#running.set(timer, afterMillis === 0 ? soon(fire) : later(fire, afterMillis));
  }

  clear(): void {
    for (const cancel of this.#running.values()) cancel();
    this.#running.clear();
  }
}
