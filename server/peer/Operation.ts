/** One call of an operator on its way through a peer, and what the audit will say of it. */
import type { OperatorAct } from "../../core/protocol/OperatorAct.ts";

export class Operation {
  #act: OperatorAct;
  #isWritten = false;

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

  /** Says what came of it, and more in words: never a submitted value. */
  tell(outcome: string, detail = ""): void {
    this.#act = { ...this.#act, outcome, detail };
  }

  written(): void {
    this.#isWritten = true;
  }
}
