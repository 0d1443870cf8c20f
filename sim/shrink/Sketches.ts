/**
 * Short runs that may fail in the stead of a long one. A smaller run of a failure that took long takes as long, whether
 * it fails or not, and a budget pays for a few of them; but what fails after hours often fails in the first minute too,
 * or without most of what was drawn.
 */
import type { RecordedUnit } from "../tape/Tape.ts";
import { type Course, withLot } from "./Course.ts";

/** A failure that takes less than this part of the budget is made smaller at once. */
const LONG = 1 / 64;
/** The longest sketches, as a part of the budget: all together take a third of it at most. */
const LONGEST = 1 / 50;
/** How many times as long they become each time. */
const LONGER = 4;
const SHORTEST = 500;
/** In so many parts of what a sketch may take it is asked for something; the rest is for what comes after healing. */
const ASKING = 1 / 2;

/** A short run. */
export interface Sketch {
  readonly candidate: Course;
  /** Events after which it is of no use. */
  readonly mostEvents: number;
}

const isOfPlan = ({ stream }: RecordedUnit): boolean => stream.startsWith("plan ");
const isAsked = ({ stream }: RecordedUnit): boolean => stream.startsWith("caller ");

/** What may be kept of all units, least first: what the plan says seldom can be spared, and what callers ask next. */
const kept: ReadonlyArray<(course: Course) => ReadonlyArray<RecordedUnit>> = [
  () => [],
  ({ units }) => units.filter(isOfPlan),
  ({ units }) => units.filter((unit) => isOfPlan(unit) || isAsked(unit)),
  ({ units }) => [...units.filter(isOfPlan), ...withLot(units, 125).filter((unit) => !isOfPlan(unit))],
  ({ units }) => [...units.filter(isOfPlan), ...withLot(units, 500).filter((unit) => !isOfPlan(unit))],
  ({ units }) => units,
];

/**
 * The short runs of a run, shortest first; none for a run that is short itself.
 *
 * @param cost events and requests of the failing run
 * @param budget the same of all smaller runs together
 */
export function* sketches(course: Course, cost: number, budget: number): Generator<Sketch> {
  if (cost <= budget * LONG) return;
  const longest = Math.min(cost, budget * LONGEST);
  for (let mostEvents = SHORTEST; mostEvents <= longest; mostEvents *= LONGER) {
    const steps = Math.min(course.options.steps, Math.floor(mostEvents * ASKING));
    for (const callers of new Set([1, course.options.callers]))
      for (const unitsOf of kept)
        yield {
          candidate: { ...course, options: { ...course.options, steps, callers }, units: unitsOf(course) },
          mostEvents,
        };
  }
}
