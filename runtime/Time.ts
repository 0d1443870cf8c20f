/** The port to time: a machine's, or a simulated one. */

/** Runs something once, so many milliseconds from now, unless it is called off by what this returns. */
export type Later = (run: () => void, afterMillis: number) => () => void;

export interface Time {
  /** A clock that never goes back. */
  readonly elapsedMillis: () => number;
  readonly later: Later;
}
