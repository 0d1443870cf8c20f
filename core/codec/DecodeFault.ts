/** Thrown while bytes are read, and nowhere else; the caller that began the reading turns it into a value. */
export class DecodeFault extends Error {
  override readonly name = "DecodeFault";
  /** What should be there, or what must not. */
  readonly detail: string;
  readonly #verb: "expected" | "found";
  readonly #path: string;
  constructor(verb: "expected" | "found", detail: string, path = "") {
    super(`${path === "" ? "value" : path}: ${verb} ${detail}`);
    this.detail = detail;
    this.#verb = verb;
    this.#path = path;
  }

  /** The same fault, seen from the container: paths grow on the way out, since good fields need none. */
  within(part: string): DecodeFault {
    const separator = this.#path === "" || this.#path.startsWith("[") ? "" : ".";
    return new DecodeFault(this.#verb, this.detail, `${part}${separator}${this.#path}`);
  }
}

/** The fault thrown while part of a container was read, with that part put before its path. */
export const within = (fault: unknown, part: string): unknown =>
  fault instanceof DecodeFault ? fault.within(part) : fault;

export const expected = (what: string): DecodeFault => new DecodeFault("expected", what);
export const found = (what: string): DecodeFault => new DecodeFault("found", what);

/** How a refused text is named, by both readers and writers. */
export const textOf = (max: number): string => `text of at most ${max} bytes`;
