/** Which fingerprints were seen: open addressing over two arrays of words, some ten bytes for each. */
import type { Fingerprint } from "./Fingerprint.ts";

const FIRST_CAPACITY = 1 << 16;

export class VisitedSet {
  #left = new Int32Array(FIRST_CAPACITY);
  #right = new Int32Array(FIRST_CAPACITY);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Takes a fingerprint in; false when it was there. */
  add({ left, right }: Fingerprint): boolean {
    // Two zeros mean an empty slot; one fingerprint in 2^64 is changed to avoid that.
    const second = left === 0 && right === 0 ? 1 : right;
    if (!this.#place(this.#left, this.#right, left, second)) return false;
    this.#size += 1;
    if (this.#size * 5 > this.#left.length * 3) this.#grow();
    return true;
  }

  #place(lefts: Int32Array, rights: Int32Array, left: number, right: number): boolean {
    const mask = lefts.length - 1;
    for (let at = (left ^ Math.imul(right, 0x9e3779b1)) & mask; ; at = (at + 1) & mask) {
      if (lefts[at] === left && rights[at] === right) return false;
      if (lefts[at] !== 0 || rights[at] !== 0) continue;
      lefts[at] = left;
      rights[at] = right;
      return true;
    }
  }

  #grow(): void {
    const lefts = new Int32Array(this.#left.length * 2);
    const rights = new Int32Array(lefts.length);
    for (let at = 0; at < this.#left.length; at++) {
      const left = this.#left[at] ?? 0;
      const right = this.#right[at] ?? 0;
      if (left !== 0 || right !== 0) this.#place(lefts, rights, left, right);
    }
    this.#left = lefts;
    this.#right = rights;
  }
}
