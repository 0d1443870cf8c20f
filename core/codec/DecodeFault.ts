/** Thrown while bytes are read, and nowhere else; whoever began to read turns it into a value. */
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

  /** The same fault, seen from the container: paths grow on the way out, since nobody asks for those of good fields. */
  within(part: string): DecodeFault {
    const separator = this.#path === "" || this.#path.startsWith("[") ? "" : ".";
    return new DecodeFault(this.#verb, this.detail, `${part}${separator}${this.#path}`);
  }
}

/** What was thrown while part of a container was read, with that part put before its path. */
export const within = (fault: unknown, part: string): unknown =>
  fault instanceof DecodeFault ? fault.within(part) : fault;

export const expected = (what: string): DecodeFault => new DecodeFault("expected", what);
export const found = (what: string): DecodeFault => new DecodeFault("found", what);

/** How a refused text is named, by whoever reads or writes it. */
export const textOf = (max: number): string => `text of at most ${max} bytes`;
