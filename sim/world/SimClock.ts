/** The clock of one peer, which differs from a perfect one by an offset and a drift. */
import type { Reading, WallClock } from "../../runtime/WallClock.ts";
import type { Stretch, Unit } from "../base/Choices.ts";

/** Where virtual time begins on the calendar, in milliseconds. */
export const EPOCH_MILLIS = 1_800_000_000_000;
const MOST_OFFSET_MILLIS = 2_500;
const MOST_DRIFT_PER_MILLION = 500;

/** What a perfect clock shows at a moment of virtual time (microseconds): milliseconds since the epoch. */
export const perfectMillis = (micros: number): number => EPOCH_MILLIS + Math.floor(micros / 1000);

export class SimClock {
  offsetMillis = 0;
  driftPerMillion = 0;
  /** By how many milliseconds it has moved at most within a moment. */
  mostMovedMillis = 0;
  #looks = 0;

  /** The same as {@link at}, but it moves by so many milliseconds whenever it is looked at again in one moment. */
  look(real: number, moves: number): number {
    const moved = this.#looks * moves;
    this.#looks += 1;
    this.mostMovedMillis = Math.max(this.mostMovedMillis, moved);
    return this.at(real) + moved;
  }

  momentOver(): void {
    this.#looks = 0;
  }

  /** Its reading when a perfect clock shows `real`, both in milliseconds since the epoch. */
  at(real: number): number {
    return real + this.offsetMillis + Math.floor(((real % 1_000_000_000) * this.driftPerMillion) / 1_000_000);
  }

  /**
   * Sets it as the unit says, within some bound.
   *
   * @param most milliseconds, each way
   * @param drift parts per million, each way
   */
  draw(unit: Unit, most: number, drift: number): void {
    // Clocks at both ends of what is allowed are the ones that decide deadlines differently.
    const anywhere: Stretch = [-most, most];
    const ends: readonly [Stretch, ...ReadonlyArray<Stretch>] = [
      [-most, -most],
      [most, most],
      anywhere,
      anywhere,
      anywhere,
    ];
    this.offsetMillis = unit.spread("offset", 0, ends, -MOST_OFFSET_MILLIS, MOST_OFFSET_MILLIS);
    this.driftPerMillion = unit.between("drift", 0, -drift, drift, -MOST_DRIFT_PER_MILLION, MOST_DRIFT_PER_MILLION);
  }

  /** Shows what a perfect clock shows from now on. */
  setRight(): void {
    this.offsetMillis = 0;
    this.driftPerMillion = 0;
  }
}

/** A reading that is another one whenever it is looked at. */
export const anewFrom = (clock: WallClock): Reading => ({
  get now() {
    return clock.read().now;
  },
  get asBefore() {
    return clock.read().asBefore;
  },
  get elapsed() {
    return clock.read().elapsed;
  },
});
