/**
 * A state this program promised would never arise. Code that catches it stops
 * the peer: going on could turn a mistake into a lost or split record.
 */
export class InvariantViolation extends Error {
  override readonly name = "InvariantViolation";
  /** The id used in docs/invariants.md. */
  readonly id: string;
  constructor(id: string, fact: string) {
    super(`${id}: ${fact}`);
    this.id = id;
  }
}
