/**
 * A map from whole numbers from 1 to numbers of 32 bits, neither 0; it may hold tens of millions, in some 16 to 32 bytes
 * each. V8's own maps end at 2^24, take twice as much, are walked over by every garbage collection, and stop everything
 * for a second when a large one grows. This one goes on in a larger table and takes a few numbers along with every
 * change.
 *
 * The keys must be spread evenly over their lowest bits, as parts of digests are.
 */
const EMPTY = 0;
const GONE = -1;
const FIRST_SLOTS = 16;
/** Slots looked at with every change: all of the older table, well before the newer one is full. */
const MOVED_AT_ONCE = 8;

class Slots {
  readonly keys: Float64Array;
  readonly values: Uint32Array;

  constructor(length: number) {
    this.keys = new Float64Array(length);
    this.values = new Uint32Array(length);
  }

  /** Where a number is, or where the first empty slot behind its place is. */
  at(number: number): number {
    const { keys } = this;
    const mask = keys.length - 1;
    let at = (number >>> 0) & mask;
    while (keys[at] !== EMPTY && keys[at] !== number) at = (at + 1) & mask;
    return at;
  }

  /** 0 where there is none. */
  get(number: number): number {
    const at = this.at(number);
    return this.keys[at] === number ? (this.values[at] ?? 0) : 0;
  }
}

export class NumberMap {
  #slots: Slots;
  /** Slots that are not empty, those of deleted numbers included. */
  #used = 0;
  #size = 0;
  /** What the map grew out of, while not all of it has moved; what has moved is still there. */
  #older: Slots | undefined;
  #moved = 0;

  /** @param size how many numbers there is room for without growing */
  constructor(size = 0) {
    this.#slots = new Slots(Math.max(FIRST_SLOTS, 2 ** Math.ceil(Math.log2((size * 4) / 3 + 2))));
  }

  get size(): number {
    return this.#size;
  }

  /** 0 where there is none. */
  get(number: number): number {
    const value = this.#slots.get(number);
    return value === 0 && this.#older !== undefined ? this.#older.get(number) : value;
  }

  /** @returns whether there was none before */
  set(number: number, value: number): boolean {
    const isNew = this.get(number) === 0;
    if (isNew) {
      this.#size += 1;
      if (this.#used * 4 >= this.#slots.keys.length * 3) this.#grow();
    }
    this.#put(number, value);
    if (isNew) this.#move();
    return isNew;
  }

  /** @returns whether there was one */
  delete(number: number): boolean {
    if (this.get(number) === 0) return false;
    this.#size -= 1;
    for (const slots of [this.#slots, this.#older]) {
      const at = slots?.at(number) ?? 0;
      if (slots?.keys[at] === number) slots.keys[at] = GONE;
    }
    this.#move();
    return true;
  }

  /** Every number with its value, in no order; nothing may change meanwhile. */
  forEach(each: (number: number, value: number) => void): void {
    for (const slots of this.#older === undefined ? [this.#slots] : [this.#slots, this.#older])
      for (const [at, number] of slots.keys.entries()) {
        if (number === EMPTY || number === GONE) continue;
        if (slots === this.#slots || this.#slots.get(number) === 0) each(number, slots.values[at] ?? 0);
      }
  }

  #put(number: number, value: number): void {
    const at = this.#slots.at(number);
    if (this.#slots.keys[at] !== number) {
      this.#slots.keys[at] = number;
      this.#used += 1;
    }
    this.#slots.values[at] = value;
  }

  /** By then nothing is left in an older table; the numbers there are take half of the new one at most. */
  #grow(): void {
    const { length } = this.#slots.keys;
    this.#older = this.#slots;
    this.#moved = 0;
    this.#slots = new Slots(this.#size * 2 > length ? length * 2 : length);
    this.#used = 0;
  }

  #move(): void {
    const older = this.#older;
    if (older === undefined) return;
    for (let count = 0; count < MOVED_AT_ONCE; count++) {
      const at = this.#moved++;
      const number = older.keys[at];
      if (number === undefined) {
        this.#older = undefined;
        return;
      }
      // What was set since is newer.
      if (number !== EMPTY && number !== GONE && this.#slots.get(number) === 0)
        this.#put(number, older.values[at] ?? 0);
    }
  }
}
