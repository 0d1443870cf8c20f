/** Reading a structure of fixed fields and sized buffers, big-endian, to its last byte. */

/** The bytes end too early or too late. */
export class OutOfBytes {
  readonly _tag = "OutOfBytes";
}

export class ByteReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** @throws OutOfBytes */
  take(count: number): Uint8Array {
    const end = this.#at + count;
    if (end > this.#bytes.length) throw new OutOfBytes();
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  /** An unsigned integer of so many bytes, at most six. */
  integer(width: number): number {
    return this.take(width).reduce((number, byte) => number * 256 + byte, 0);
  }

  /** A TPM2B: a buffer preceded by its size in two bytes. */
  sized(): Uint8Array {
    return this.take(this.integer(2));
  }

  /** @throws OutOfBytes if anything is left */
  end(): void {
    if (this.#at !== this.#bytes.length) throw new OutOfBytes();
  }
}
