/**
 * Runs of the simulator as values of fast-check, which shrink as `custody sim shrink` does: by the same candidates in
 * the same order. A property runs a course and judges the result.
 */
import fc from "fast-check";
import type { RunOptions } from "../sim/run/RunOptions.ts";
import { type Course, type Place, reductions, START } from "../sim/shrink/Course.ts";
import { courseOf, follow } from "../sim/shrink/Shrink.ts";
import { tapeOptions } from "../sim/tape/Tape.ts";
import { record } from "../sim/tape/TapeRun.ts";

const MOST_SEED = 0x7fffffff;

const isPlace = (context: unknown): context is Place =>
  typeof context === "object" && context !== null && "pass" in context && "chunk" in context;

const isCourse = (value: unknown): value is Course =>
  typeof value === "object" && value !== null && "options" in value && "units" in value;

class CourseArbitrary extends fc.Arbitrary<Course> {
  readonly #options: Omit<RunOptions, "seed">;
  readonly #bug: string | undefined;

  constructor(options: Omit<RunOptions, "seed">, bug: string | undefined) {
    super();
    this.#options = options;
    this.#bug = bug;
  }

  generate(random: fc.Random): fc.Value<Course> {
    const seed = random.nextInt(1, MOST_SEED);
    const { options, deviations } = record(tapeOptions({ ...this.#options, seed }, this.#bug));
    return new fc.Value<Course>({ options, units: deviations, isEarly: false }, START);
  }

  canShrinkWithoutContext(value: unknown): value is Course {
    return isCourse(value);
  }

  shrink(value: Course, context: unknown): fc.Stream<fc.Value<Course>> {
    // The value failed with the draws that were made, not with those wished for.
    const course = courseOf(follow(value));
    const smaller = function* (): Generator<fc.Value<Course>> {
      for (const { candidate, ifFailing } of reductions(course, isPlace(context) ? context : START))
        yield new fc.Value(candidate, ifFailing);
    };
    return fc.stream(smaller());
  }
}

/**
 * Runs of a schedule, each from a seed of its own.
 *
 * @param options what every run has in common
 * @param bug a planted bug that every run has, by its name
 */
export const courses = (options: Omit<RunOptions, "seed">, bug?: string): fc.Arbitrary<Course> =>
  new CourseArbitrary(options, bug);
