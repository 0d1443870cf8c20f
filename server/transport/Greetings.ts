/**
 * How many sessions this peer begins for others. Each costs it about two milliseconds (X25519) before the other side has
 * shown who it is, so strangers could take all of its time with a few bytes. Whoever is declined is read as signed.
 */

/** At once, for strangers and for members each. */
export const MOST_GREETED = 32;
/** Until there is room for one more. */
export const GREETING_MILLIS = 50;

export class Greetings {
  readonly #elapsedMillis: () => number;
  /** When all that was taken is made up for, by whether a member is at the other end. */
  readonly #until = new Map<boolean, number>();

  /** @param elapsedMillis a clock that never goes back, in milliseconds */
  constructor(elapsedMillis: () => number) {
    this.#elapsedMillis = elapsedMillis;
  }

  /** Whether one more may be begun; strangers take nothing from connections that are proven. */
  take(isProven: boolean): boolean {
    const now = this.#elapsedMillis();
    const until = Math.max(now, this.#until.get(isProven) ?? now) + GREETING_MILLIS;
    if (until - now > MOST_GREETED * GREETING_MILLIS) return false;
    this.#until.set(isProven, until);
    return true;
  }
}
