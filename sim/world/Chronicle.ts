/** What has happened in a world so far: a line of the trace for each event, and counts. Observers are told at once. */
import { Census } from "../base/Census.ts";
import type { Checkers } from "../checkers/Checkers.ts";
import type { Observer } from "./Observer.ts";
import type { Scheduler } from "./Scheduler.ts";
import type { Trace } from "./Trace.ts";

interface Ports {
  readonly scheduler: Scheduler;
  readonly trace: Trace;
  readonly checkers: Checkers;
  readonly observer: Observer | undefined;
}

export class Chronicle {
  /** Faults injected, by name. */
  readonly faults: Census;
  /** Situations reached, by name. */
  readonly marks: Census;
  /** Delivered messages, fired timers, finished flushes, crashes and starts. */
  events = 0;
  /** Requests and reads of callers; they move a run on, but are not counted as events. */
  calls = 0;
  readonly #scheduler: Scheduler;
  readonly #trace: Trace;
  readonly #observer: Observer | undefined;
  #healedAt: number | undefined;

  constructor({ scheduler, trace, checkers, observer }: Ports) {
    this.#scheduler = scheduler;
    this.#trace = trace;
    this.#observer = observer;
    const traced = checkers.hooks("traced");
    trace.tellNewWords((word) => {
      for (const hook of traced) hook(word);
    });
    this.faults = new Census(observer && ((name) => observer.counted("fault", name)));
    this.marks = new Census(observer && ((name) => observer.counted("mark", name)));
  }

  /** An event has just happened; its parts are those of {@link Trace.note}. */
  note(what: string, who: number, detail: string, other = 0): void {
    this.#trace.note(this.#scheduler.now, who, what, detail, other);
    this.#observer?.noted(what, who, detail, other);
  }

  /** Nothing more is done to the world from now on. */
  healed(): void {
    this.#healedAt = this.#scheduler.now;
    this.#observer?.healed();
  }

  /** Microseconds; from this moment on nothing is done to the world. Undefined before it. */
  get healedAt(): number | undefined {
    return this.#healedAt;
  }

  get isHealed(): boolean {
    return this.#healedAt !== undefined;
  }
}
