/**
 * A set of whole numbers from 1 that may hold tens of millions, in some 11 to 21 bytes each. V8's own sets end at
 * 2^24, take twice as much, are walked over by every garbage collection, and stop everything for a second when a large
 * one grows. This one goes on in a larger table and takes a few numbers along with every change.
 *
 * The numbers must be spread evenly over their lowest bits, as parts of digests are.
 */
const EMPTY = 0;
const GONE = -1;
const FIRST_SLOTS = 16;
/** Slots looked at with every change: all of the older table, well before the newer one is full. */
const MOVED_AT_ONCE = 8;

/** Where a number is, or where the first empty slot behind its place is. */
const slotOf = (slots: Float64Array, number: number): number => {
  const mask = slots.length - 1;
  let at = (number >>> 0) & mask;
  while (slots[at] !== EMPTY && slots[at] !== number) at = (at + 1) & mask;
  return at;
};

const isIn = (slots: Float64Array | undefined, number: number): boolean =>
  slots !== undefined && slots[slotOf(slots, number)] === number;

export class NumberSet {
  #slots = new Float64Array(FIRST_SLOTS);
  /** Slots that are not empty, those of deleted numbers included. */
  #used = 0;
  #size = 0;
  /** What the set grew out of, while not all of it has moved; what has moved is still there. */
  #older: Float64Array | undefined;
  #moved = 0;

  get size(): number {
    return this.#size;
  }

  has(number: number): boolean {
    return isIn(this.#slots, number) || isIn(this.#older, number);
  }

  add(number: number): void {
    if (this.has(number)) return;
    this.#size += 1;
    if (this.#used * 4 >= this.#slots.length * 3) this.#grow();
    this.#put(number);
    this.#move();
  }

  delete(number: number): void {
    if (!this.has(number)) return;
    this.#size -= 1;
    for (const slots of [this.#slots, this.#older])
      if (slots !== undefined && isIn(slots, number)) slots[slotOf(slots, number)] = GONE;
    this.#move();
  }

  #put(number: number): void {
    const at = slotOf(this.#slots, number);
    if (this.#slots[at] === number) return;
    this.#slots[at] = number;
    this.#used += 1;
  }

  /** By then nothing is left in an older table; the numbers there are take half of the new one at most. */
  #grow(): void {
    const { length } = this.#slots;
    this.#older = this.#slots;
    this.#moved = 0;
    this.#slots = new Float64Array(this.#size * 2 > length ? length * 2 : length);
    this.#used = 0;
  }

  #move(): void {
    if (this.#older === undefined) return;
    for (let count = 0; count < MOVED_AT_ONCE; count++) {
      const number = this.#older[this.#moved++];
      if (number === undefined) {
        this.#older = undefined;
        return;
      }
      if (number !== EMPTY && number !== GONE) this.#put(number);
    }
  }
}
