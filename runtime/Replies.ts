/** Callers that wait for an answer of the protocol, each by the name of its request. */
import type { Answer } from "../core/Action.ts";
import type { Later } from "./Time.ts";

export interface ReplyPorts {
  readonly later: Later;
  /** A name that no other request of any process of this cluster has. */
  readonly newName: () => string;
}

export class Replies {
  readonly #ports: ReplyPorts;
  readonly #waiting = new Map<string, (answer: Answer) => void>();

  constructor(ports: ReplyPorts) {
    this.#ports = ports;
  }

  /** Callers waiting now. */
  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Hands the name of a new request to `start` and tells `done` its answer, once; after `timeoutMillis` the answer is
   * `late`, and whatever comes afterwards is dropped.
   */
  ask(start: (requestId: string) => void, timeoutMillis: number, late: Answer, done: (answer: Answer) => void): void {
    const { later, newName } = this.#ports;
    const requestId = newName();
    const callOff = later(() => this.answer(requestId, late), timeoutMillis);
    this.#waiting.set(requestId, (answer) => {
      callOff();
      done(answer);
    });
    start(requestId);
  }

  /** Answers a caller, once; an unknown name was answered already. */
  answer(requestId: string, answer: Answer): void {
    const done = this.#waiting.get(requestId);
    this.#waiting.delete(requestId);
    done?.(answer);
  }
}
