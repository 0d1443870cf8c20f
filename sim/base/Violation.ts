/** Two facts of one run that cannot both be true, under the id of the invariant they break (docs/invariants.md). */
export class Violation extends Error {
  override readonly name = "Violation";
  readonly id: string;
  readonly facts: readonly [string, string];
  constructor(id: string, first: string, second: string) {
    super(`${id}: ${first}; ${second}`);
    this.id = id;
    this.facts = [first, second];
  }
}
