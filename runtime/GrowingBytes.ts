/**
 * Bytes that come in pieces, kept as one array: a piece may be one byte long, and an object for each would cost hundreds
 * of times what is counted.
 */

/** Of the first array, unless all of the bytes need less. */
const LEAST_BYTES = 256;

export class GrowingBytes {
  readonly #most: number;
  #bytes = new Uint8Array(0);
  #length = 0;

  /** @param most bytes that may come */
  constructor(most: number) {
    this.#most = most;
  }

  /** Copies a piece behind what has come; together they are at most as many bytes as may come. */
  add(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(Math.min(this.#most, Math.max(LEAST_BYTES, 2 * this.#bytes.length, length)));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(piece, this.#length);
    this.#length = length;
  }

  /** All that has come, in an array with a memory of its own; nothing may be added any more. */
  whole(): Uint8Array {
    return this.#length === this.#bytes.length ? this.#bytes : this.#bytes.slice(0, this.#length);
  }
}
