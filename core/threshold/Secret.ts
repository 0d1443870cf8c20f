/** Bytes that must not be seen: a share of a key, the seed of a nonce or of a polynomial. No codec takes one. */

const HIDDEN = "<secret>";

export class Secret {
  readonly #bytes: Uint8Array<ArrayBuffer>;

  /** Takes a copy: what is wiped here is nobody else's, and the other way round. */
  constructor(bytes: Uint8Array) {
    this.#bytes = Uint8Array.from(bytes);
  }

  /** The bytes themselves, not a copy; for threshold schemes and for what encrypts. */
  expose(): Uint8Array<ArrayBuffer> {
    return this.#bytes;
  }

  /** Overwrites the bytes; copies that a big integer was made of are out of reach. */
  wipe(): void {
    this.#bytes.fill(0);
  }

  toJSON(): string {
    return HIDDEN;
  }

  toString(): string {
    return HIDDEN;
  }

  /** What Node prints; private fields it does not print anyway. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return HIDDEN;
  }
}
