/**
 * How many sessions this peer begins for others. Each costs it about two milliseconds (X25519) before the other side has
 * shown who it is, so strangers could take all of its time with a few bytes. Whoever is declined is read as signed.
 */
import { AddressBudget } from "../net/AddressBudget.ts";

/** At once, of one address: half of a cluster that starts there, and the rest follows. */
export const MOST_GREETED = 32;
/** Until there is room for one more. */
export const GREETING_MILLIS = 50;

const bounds = {
  ofAddress: { most: MOST_GREETED, millis: GREETING_MILLIS },
  all: { most: 2 * MOST_GREETED, millis: GREETING_MILLIS / 2, mostOfNew: 3 * MOST_GREETED },
};

export class Greetings {
  readonly #strangers: AddressBudget;
  readonly #proven: AddressBudget;

  /** @param elapsedMillis a clock that never goes back, in milliseconds */
  constructor(elapsedMillis: () => number) {
    this.#strangers = new AddressBudget(bounds, elapsedMillis);
    this.#proven = new AddressBudget(bounds, elapsedMillis);
  }

  /** Whether one more may be begun; strangers take nothing from other addresses, nor from connections that are proven. */
  take(address: string, isProven: boolean): boolean {
    return (isProven ? this.#proven : this.#strangers).take(address);
  }
}
