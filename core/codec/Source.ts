/** The other end of a {@link Sink}: what a codec reads a value from, and how it says what does not fit. */

/**
 * Where a value is read from, token by token, in the order in which a codec writes them. Every method takes what
 * comes next, or throws a {@link DecodeFault} where that is something else.
 */
export interface Source {
  readonly uint: () => number;
  /** A number that stands for one of several things; below 0 where what comes next is none. */
  readonly index: () => number;
  /** Text of at most `max` bytes in UTF-8. */
  readonly text: (max: number) => string;
  /** A byte string of at most `max` bytes, as a copy. */
  readonly bytes: (max: number) => Uint8Array;
  /** A byte string of exactly `length` bytes, as lower-case hexadecimal. */
  readonly hex: (length: number) => string;
  readonly bool: () => boolean;
  /** Whether a null comes next, which is then taken; anything else stays. */
  readonly nothing: () => boolean;
  /** The head of a list: how many items follow, at most `max`. */
  readonly list: (max: number) => number;
  /** The head of a list of exactly two items. */
  readonly pair: () => void;
  /** The head of a record with the fields from 0 to `count` - 1, which follow. */
  readonly record: (count: number) => void;
  /** The number of the field whose value comes next. */
  readonly field: (key: number) => void;
}

/** Thrown inside `read` only; the reader turns it into a value at the door. */
export class DecodeFault extends Error {
  override readonly name = "DecodeFault";
  readonly #expected: string;
  readonly #path: string;
  constructor(expected: string, path = "") {
    super(`${path === "" ? "value" : path}: expected ${expected}`);
    this.#expected = expected;
    this.#path = path;
  }

  /** The same fault, seen from the container: paths grow on the way out, since nobody asks for those of good fields. */
  within(part: string): DecodeFault {
    const separator = this.#path === "" || this.#path.startsWith("[") ? "" : ".";
    return new DecodeFault(this.#expected, `${part}${separator}${this.#path}`);
  }
}

/** What was thrown while part of a container was read, with that part put before its path. */
export const within = (fault: unknown, part: string): unknown =>
  fault instanceof DecodeFault ? fault.within(part) : fault;

/** How a refused text is named, by whoever reads or writes it. */
export const textOf = (max: number): string => `text of at most ${max} bytes`;
