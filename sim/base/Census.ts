/** Counts of things by name: faults injected, rare situations reached. */
export class Census {
  readonly #counts = new Map<string, number>();
  readonly #told: ((name: string) => void) | undefined;

  /** @param told hears every name as it is counted */
  constructor(told?: (name: string) => void) {
    this.#told = told;
  }

  add(name: string, count = 1): void {
    this.#told?.(name);
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + count);
  }

  addAll(other: Iterable<readonly [string, number]>): void {
    for (const [name, count] of other) this.add(name, count);
  }

  /** Names in order. */
  entries(): ReadonlyArray<readonly [string, number]> {
    return [...this.#counts].toSorted(([left], [right]) => (left < right ? -1 : 1));
  }
}
