/**
 * From a failing run to a small one that fails the same way: units are made quiet,
 * many at once and then fewer, and what still breaks the same invariant is kept.
 */
import type { Backend } from "../crypto/Cryptography.ts";
import { type Recording, record } from "../tape/TapeRun.ts";
import { type Course, type Place, reductions, START } from "./Course.ts";
import { WishDecider } from "./WishDecider.ts";

export interface ShrinkLimits {
  /** How many smaller runs are tried at most. */
  readonly mostRuns: number;
  /** Whether to end now with the result so far; the simulator has no clock. */
  readonly isTimeUp: () => boolean;
  /** The backend of what is computed for real in the runs. */
  readonly backend?: Backend | undefined;
  /** Told after every run that was kept. */
  readonly progress?: ((recording: Recording, runs: number) => void) | undefined;
}

export interface Shrunk {
  /** The smallest run found; it fails as the first one did. */
  readonly recording: Recording;
  /** Runs that were tried. */
  readonly runs: number;
  /** Nothing more can be taken from it; otherwise a limit was reached. */
  readonly isMinimal: boolean;
}

/** Runs a course: its units as far as they fit, and all else quiet. */
export const follow = ({ options, units }: Pick<Course, "options" | "units">, backend?: Backend): Recording =>
  record(options, { backend }, new WishDecider(units));

/** By which factor a smaller run may take more steps to the same failure: quiet callers ask more. */
const LEEWAY = 2;

/** The course of a run, with as many steps as smaller runs need: a violation before healing does not need all. */
export const courseOf = ({ options, result, deviations }: Recording): Course => {
  const taken = result.events + result.calls;
  const steps = Math.min(options.steps, LEEWAY * taken);
  return { options: { ...options, steps }, units: deviations, isEarly: taken < options.steps };
};

/**
 * Makes a failing run smaller until no unit of choice can be made quiet and no draw
 * calmer, or until the limits are reached. The same run and the same number of runs
 * give the same result.
 *
 * @param failing a run with a violation; without one it is handed back as it is
 */
export const shrink = (failing: Recording, { mostRuns, isTimeUp, backend, progress }: ShrinkLimits): Shrunk => {
  const wanted = failing.result.violation?.id;
  let recording = failing;
  let course = courseOf(failing);
  let place: Place | undefined = wanted === undefined ? undefined : START;
  let runs = 0;
  while (place !== undefined) {
    let next: Place | undefined;
    for (const { candidate, ifFailing } of reductions(course, place)) {
      if (runs >= mostRuns || isTimeUp()) return { recording, runs, isMinimal: false };
      runs += 1;
      const tried = follow(candidate, backend);
      if (tried.result.violation?.id !== wanted) continue;
      recording = tried;
      course = courseOf(tried);
      next = ifFailing;
      progress?.(recording, runs);
      break;
    }
    place = next;
  }
  return { recording, runs, isMinimal: true };
};
