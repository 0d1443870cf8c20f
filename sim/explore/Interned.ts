/** One object for each fingerprint, so equal values are identical, and results derived from one are kept with it. */
import type { Fingerprint } from "./Fingerprint.ts";

export class Interned<A extends { readonly print: Fingerprint }> {
  readonly #byLeft = new Map<number, Array<A>>();

  /** The first value that had this one's fingerprint. */
  one(value: A): A {
    const { left, right } = value.print;
    const known = this.#byLeft.get(left);
    if (known === undefined) {
      this.#byLeft.set(left, [value]);
      return value;
    }
    const found = known.find(({ print }) => print.right === right);
    if (found !== undefined) return found;
    known.push(value);
    return value;
  }
}
