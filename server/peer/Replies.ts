/** Callers that wait for an answer of the protocol, by a request id that is ours alone. */
import { randomBytes } from "node:crypto";
import type { Answer } from "../../core/Action.ts";

export class Replies {
  /** Tells the requests of this process from those of an earlier process of the peer. */
  readonly #process = randomBytes(9).toString("base64url");
  readonly #waiting = new Map<string, (answer: Answer) => void>();
  #count = 0;

  /** Callers waiting now. */
  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Hands a fresh request id to `start` and waits for its answer; after `timeoutMillis`
   * the answer is `late` and whatever comes afterwards is dropped.
   */
  ask(start: (requestId: string) => void, timeoutMillis: number, late: Answer): Promise<Answer> {
    const requestId = `${this.#process}-${(++this.#count).toString(36)}`;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.answer(requestId, late), timeoutMillis);
      this.#waiting.set(requestId, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      start(requestId);
    });
  }

  /** Whether the caller still waits for the answer. */
  isWaiting(requestId: string): boolean {
    return this.#waiting.has(requestId);
  }

  /** Answers a caller, once; an unknown id was answered already. */
  answer(requestId: string, answer: Answer): void {
    const resolve = this.#waiting.get(requestId);
    this.#waiting.delete(requestId);
    resolve?.(answer);
  }
}
