/** One call of an operator on its way through a peer, and the audit's record of it. */
import type { OperatorAct } from "../../core/protocol/OperatorAct.ts";

/** The outcome of a call beside what its answer says. */
export type Later = Pick<OperatorAct, "outcome" | "detail">;

export class Operation {
  #act: OperatorAct;
  #isWritten = false;
  #later: Promise<Later | undefined> = Promise.resolve(undefined);

  constructor(act: OperatorAct) {
    this.#act = act;
  }

  get act(): OperatorAct {
    return this.#act;
  }

  /** Whether the transaction that made the change has the act too. */
  get isWritten(): boolean {
    return this.#isWritten;
  }

  /** Gives the outcome, and more in words: never a submitted value. */
  tell(outcome: string, detail = ""): void {
    this.#act = { ...this.#act, outcome, detail };
  }

  /** A failure that the answer does not wait for, or undefined where there is none. Never rejects. */
  get later(): Promise<Later | undefined> {
    return this.#later;
  }

  follow(later: Promise<Later | undefined>): void {
    this.#later = later;
  }

  written(): void {
    this.#isWritten = true;
  }
}
