/**
 * How often callers may have something costly done before anything vouches for them: of one address and of all together.
 * The less an address has taken in the last minute, the further it may go beyond what all together may take: who asks
 * again and again takes nothing away from those that hardly ask.
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
    /** At once, for an address that has taken nothing of late. */
    readonly mostOfNew: number;
  };
}

/** So long it is held against an address that it has taken all that it may at once; less, for a part. */
const HELD_AGAINST_MILLIS = 60_000;
/** And of any that it has taken at least so long: many addresses, each in its turn, are not new each time. */
const LEAST_MILLIS = 3_000;
/** Addresses remembered: whoever is forgotten is new. */
const REMEMBERED = 4096;

/** How many count as taken: a time until which they are not made up for. */
const takenOf = (until: number, now: number, { millis }: Rate): number => Math.max(0, until - now) / millis;

interface Taken {
  /** Until when it is not made up for, and until when it is held against the address. */
  readonly until: number;
  readonly against: number;
}

export class AddressBudget {
  readonly #bounds: BudgetBounds;
  readonly #elapsedMillis: () => number;
  readonly #addresses = new RecentMap<Taken>(REMEMBERED);
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
    const { until, against } = this.#addresses.get(address) ?? { until: now, against: now };
    if (takenOf(until, now, ofAddress) + 1 > ofAddress.most) return false;
    const beyond = (all.mostOfNew - all.most) * (1 - Math.max(0, against - now) / HELD_AGAINST_MILLIS);
    return takenOf(this.#all, now, all) + 1 <= all.most + beyond;
  }

  /** Takes so many, whether or not they are left. */
  spend(address: string, times = 1): void {
    const now = this.#elapsedMillis();
    const { ofAddress, all } = this.#bounds;
    const { until, against } = this.#addresses.get(address) ?? { until: now, against: now };
    const longer = times * Math.max(HELD_AGAINST_MILLIS / ofAddress.most, LEAST_MILLIS);
    this.#addresses.set(address, {
      until: Math.max(until, now) + times * ofAddress.millis,
      against: Math.min(Math.max(against, now) + longer, now + HELD_AGAINST_MILLIS),
    });
    this.#all = Math.max(this.#all, now) + times * all.millis;
  }

  /** Takes one, if there is one left. */
  take(address: string): boolean {
    const isLeft = this.has(address);
    if (isLeft) this.spend(address);
    return isLeft;
  }
}
