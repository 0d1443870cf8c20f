/** The protocol's named timers: at most one of each name runs. */
import type { TimerName } from "../core/protocol/Event.ts";
import type { Later } from "./Time.ts";

export class Timers {
  readonly #running = new Map<TimerName, () => void>();
  readonly #later: Later;
  readonly #fire: (timer: TimerName) => void;

  constructor(later: Later, fire: (timer: TimerName) => void) {
    this.#later = later;
    this.#fire = fire;
  }

  /** Fires once after the delay; a timer of the same name that runs already is replaced. */
  set(timer: TimerName, afterMillis: number): void {
    this.#running.get(timer)?.();
    const fire = (): void => {
      this.#running.delete(timer);
      this.#fire(timer);
    };
    this.#running.set(timer, this.#later(fire, afterMillis));
  }

  clear(): void {
    for (const cancel of this.#running.values()) cancel();
    this.#running.clear();
  }
}
