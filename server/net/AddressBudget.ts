/**
 * How often callers may have something costly done before anything vouches for them: of one address and of all together.
 * What is left of the whole goes to those that have asked for none of late, before those that ask again and again.
 */
import { RecentMap } from "../../runtime/RecentMap.ts";

/** So many at once, and one more after each interval, in milliseconds. */
interface Rate {
  readonly most: number;
  readonly millis: number;
}

export interface BudgetBounds {
  readonly ofAddress: Rate;
  readonly all: Rate & {
    /** At once, for an address that has taken nothing for a while. */
    readonly mostOfNew: number;
  };
}

/** An address that has taken nothing for so long is new again. */
export const NEW_AGAIN_MILLIS = 60_000;
/** Addresses remembered: whoever is forgotten is new. */
const REMEMBERED = 4096;

/** What is taken is a time until which it is not made up for. */
const hasRoom = (until: number, now: number, millis: number, most: number): boolean =>
  Math.max(until, now) + millis - now <= most * millis;

export class AddressBudget {
  readonly #bounds: BudgetBounds;
  readonly #elapsedMillis: () => number;
  readonly #addresses = new RecentMap<number>(REMEMBERED);
  #all = Number.NEGATIVE_INFINITY;

  /** @param elapsedMillis a clock that never goes back, in milliseconds */
  constructor(bounds: BudgetBounds, elapsedMillis: () => number) {
    this.#bounds = bounds;
    this.#elapsedMillis = elapsedMillis;
  }

  /** Whether there is one left for this address. */
  has(address: string): boolean {
    const now = this.#elapsedMillis();
    const { ofAddress, all } = this.#bounds;
    const until = this.#addresses.get(address) ?? Number.NEGATIVE_INFINITY;
    if (!hasRoom(until, now, ofAddress.millis, ofAddress.most)) return false;
    const isNew = now - until > NEW_AGAIN_MILLIS;
    return hasRoom(this.#all, now, all.millis, isNew ? all.mostOfNew : all.most);
  }

  /** Takes one, whether or not there is one left. */
  spend(address: string): void {
    const now = this.#elapsedMillis();
    const { ofAddress, all } = this.#bounds;
    this.#addresses.set(address, Math.max(this.#addresses.get(address) ?? now, now) + ofAddress.millis);
    this.#all = Math.max(this.#all, now) + all.millis;
  }

  /** Takes one, if there is one left. */
  take(address: string): boolean {
    const isLeft = this.has(address);
    if (isLeft) this.spend(address);
    return isLeft;
  }
}
