/** What a process of the score is given to do, and what it says. */

/** A seed to run, and the number of events after which it is told that it does not end. */
export interface Task {
  readonly seed: number;
  readonly mostEvents: number;
}

/** What became of a seed. */
export interface Ran {
  readonly seed: number;
  readonly events: number;
  /** The id of the invariant that broke, or `ENDLESS`. */
  readonly broke: string | undefined;
  /** A hash of all that happened, of what was sent and written and of all answers. */
  readonly course: string;
  /** The mutants that would have made a difference. */
  readonly reached: ReadonlyArray<number>;
}

/** What it says: first that it is loaded, and what made a difference there; then what became of each seed. */
export type Word = { readonly loaded: ReadonlyArray<number> } | { readonly ran: Ran };

/** Of a run that has more events than it may. */
export const ENDLESS = "endless";
