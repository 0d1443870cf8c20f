/**
 * How much this peer looks into messages that nothing vouches for. To find out whether 32 bytes are a public key takes
 * about two milliseconds, and a signature a tenth of that: whoever shows a fresh key with each message, or signs badly in
 * a member's name, could take all of its time. What a member has said costs nothing here, wherever it came from.
 */
import type { PublicKey } from "../../core/base/Digest.ts";
import type { Scrutiny } from "../../runtime/EnvelopeCodec.ts";
import { RecentMap } from "../../runtime/RecentMap.ts";
import { AddressBudget, type BudgetBounds } from "../net/AddressBudget.ts";

/** A cluster of 64 members behind one address shows all its keys at once. */
const keyBounds: BudgetBounds = {
  ofAddress: { most: 96, millis: 50 },
  all: { most: 192, millis: 12.5, mostOfNew: 384 },
};

/** So many members that wait for their promotion behind one address say four things a second each. */
const messageBounds: BudgetBounds = {
  ofAddress: { most: 1024, millis: 2 },
  // A member may come from any address, and nobody knows before its signature is verified.
  all: { most: 1536, millis: 1, mostOfNew: 6144 },
};

/** Keys that were judged; fewer than the judge itself remembers, so that all of them cost nothing more. */
const REMEMBERED_KEYS = 1024;

class Side {
  readonly keys: AddressBudget;
  readonly messages: AddressBudget;

  constructor(elapsedMillis: () => number) {
    this.keys = new AddressBudget(keyBounds, elapsedMillis);
    this.messages = new AddressBudget(messageBounds, elapsedMillis);
  }
}

export class Strangers {
  readonly #strangers: Side;
  readonly #proven: Side;
  readonly #judged = new RecentMap<true>(REMEMBERED_KEYS);

  /** @param elapsedMillis a clock that never goes back, in milliseconds */
  constructor(elapsedMillis: () => number) {
    this.#strangers = new Side(elapsedMillis);
    this.#proven = new Side(elapsedMillis);
  }

  /**
   * What is done for one sender.
   *
   * @param who its address, or a name for the member that a session has shown
   * @param isProven whether its connection is a member's: what strangers take is not missing there
   */
  of(who: string, isProven: boolean): Scrutiny {
    const { keys, messages } = isProven ? this.#proven : this.#strangers;
    return {
      mayVerify: () => messages.has(who),
      unvouched: (signatures) => messages.spend(who, signatures),
      mayJudge: (key: PublicKey) => {
        if (this.#judged.get(key) === true) return true;
        const may = keys.take(who);
        if (may) this.#judged.set(key, true);
        return may;
      },
    };
  }
}
