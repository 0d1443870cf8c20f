/** The protocol's named timers on the machine's clock. */
import type { TimerName } from "../../core/Event.ts";

export class Timers {
  readonly #running = new Map<TimerName, NodeJS.Timeout>();
  readonly #fire: (timer: TimerName) => void;

  constructor(fire: (timer: TimerName) => void) {
    this.#fire = fire;
  }

  /** Fires once after the delay; a timer of the same name that runs already is replaced. */
  set(timer: TimerName, afterMillis: number): void {
    clearTimeout(this.#running.get(timer));
    this.#running.set(
      timer,
      setTimeout(() => {
        this.#running.delete(timer);
        this.#fire(timer);
      }, afterMillis),
    );
  }

  clear(): void {
    for (const each of this.#running.values()) clearTimeout(each);
    this.#running.clear();
  }
}
