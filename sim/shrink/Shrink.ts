/**
 * From a failing run to a small one that fails the same way: units are made quiet,
 * many at once and then fewer, and what still breaks the same invariant is kept.
 */
import type { Backend } from "../crypto/Cryptography.ts";
import { Interruption } from "../run/Interruption.ts";
import { type Recording, record } from "../tape/TapeRun.ts";
import type { Observed } from "../world/Observer.ts";
import { silent } from "../world/Silent.ts";
import { type Course, type Place, reductions, START } from "./Course.ts";
import { sketches } from "./Sketches.ts";
import { WishDecider } from "./WishDecider.ts";

export interface ShrinkLimits {
  /** Events and requests of all smaller runs together; with this many or more no other run is begun. */
  readonly mostEvents: number;
  /** The backend of what is computed for real in the runs. */
  readonly backend?: Backend | undefined;
}

export interface Shrunk {
  /** The smallest run found; it fails as the first one did. */
  readonly recording: Recording;
  /** Runs that were tried, and how many events and requests they had together. */
  readonly runs: number;
  readonly events: number;
  /** Nothing more can be taken from it; otherwise the search ended before. */
  readonly isMinimal: boolean;
}

/** Runs a course: its units as far as they fit, and all else quiet. */
export const follow = ({ options, units }: Pick<Course, "options" | "units">, backend?: Backend): Recording =>
  record(options, { backend }, new WishDecider(units));

/** By which factor a smaller run may take longer to the same failure: quiet callers ask more. */
const LEEWAY = 2;

/** A run that took too long to be of use. */
class TooLong extends Interruption {
  override readonly name = "TooLong";
}

/** Runs a course for at most so many events; undefined where these were not enough. */
const followWithin = (course: Course, mostEvents: number, backend: Backend | undefined): Recording | undefined => {
  let world: Observed | undefined;
  const observer = {
    ...silent,
    began: (observed: Observed) => {
      world = observed;
    },
    ticked: () => {
      if (world !== undefined && world.events > mostEvents) throw new TooLong();
    },
  };
  try {
    return record(course.options, { backend, observer }, new WishDecider(course.units));
  } catch (fault) {
    if (fault instanceof TooLong) return undefined;
    throw fault;
  }
};

/** Events and requests of a run. */
export const costOf = ({ result }: Recording): number => result.events + result.calls;

/** The course of a run, with as many steps as smaller runs need: a violation before healing does not need all. */
export const courseOf = (recording: Recording): Course => {
  const { options, deviations } = recording;
  const taken = costOf(recording);
  const steps = Math.min(options.steps, LEEWAY * taken);
  return { options: { ...options, steps }, units: deviations, isEarly: taken < options.steps };
};

/**
 * Makes a failing run smaller, a run for each step of the generator, until no unit of choice can be made quiet and no
 * draw calmer, or until the budget is used up. Whoever ends it earlier has the smallest run so far. The same run and
 * the same budget give the same result on every machine.
 *
 * @param failing a run with a violation; without one it is handed back as it is
 */
export function* shrinking(failing: Recording, { mostEvents, backend }: ShrinkLimits): Generator<Shrunk, Shrunk> {
  const wanted = failing.result.violation?.id;
  let recording = failing;
  let place: Place | undefined = wanted === undefined ? undefined : START;
  let runs = 0;
  let events = 0;
  /** Tries a smaller run; whether it is the smallest now. */
  const isKept = (candidate: Course, longest: number): boolean => {
    const tried = followWithin(candidate, longest, backend);
    runs += 1;
    events += tried === undefined ? longest : costOf(tried);
    if (tried === undefined || tried.result.violation?.id !== wanted) return false;
    recording = tried;
    return true;
  };
  for (const sketch of wanted === undefined ? [] : sketches(courseOf(failing), costOf(failing), mostEvents)) {
    const isShort = isKept(sketch.candidate, sketch.mostEvents);
    yield { recording, runs, events, isMinimal: false };
    if (isShort) break;
  }
  let course = courseOf(recording);
  while (place !== undefined) {
    let next: Place | undefined;
    const longest = LEEWAY * costOf(recording);
    for (const { candidate, ifFailing } of reductions(course, place)) {
      if (events >= mostEvents) return { recording, runs, events, isMinimal: false };
      const isSmaller = isKept(candidate, longest);
      yield { recording, runs, events, isMinimal: false };
      if (!isSmaller) continue;
      course = courseOf(recording);
      next = ifFailing;
      break;
    }
    place = next;
  }
  return { recording, runs, events, isMinimal: true };
}

/** Shrinks without a pause. */
export const shrink = (failing: Recording, limits: ShrinkLimits): Shrunk => {
  const search = shrinking(failing, limits);
  for (;;) {
    const { done, value } = search.next();
    if (done === true) return value;
  }
};
