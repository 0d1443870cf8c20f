/** What all planted bugs together are held to. */

/** Seeds of the default mix in which each must be found, and one of two. */
export const MOST_SEEDS = 10_000;
const MEDIAN_SEEDS = 100;
/** Deviations from the quiet run that are left after shrinking: of one of two, and of each. */
const MEDIAN_SIZE = 5;
export const MOST_SIZE = 60;

export interface Judged {
  readonly bug: string;
  /** The first failing seed; infinite where there was none. */
  readonly seed: number;
  /** Deviations after shrinking; infinite where it was not found. */
  readonly size: number;
}

/** The middle of some numbers, the higher of two; infinite where there are none. */
const medianOf = (numbers: ReadonlyArray<number>): number =>
  numbers.toSorted((left, right) => left - right)[Math.floor(numbers.length / 2)] ?? Number.POSITIVE_INFINITY;

/** What was reached in one line, and every bound that was missed in one more. */
export const boundsOf = (
  judged: ReadonlyArray<Judged>,
): {
  readonly reached: string;
  readonly unfound: ReadonlyArray<string>;
  readonly missed: ReadonlyArray<string>;
} => {
  const found = judged.filter(({ seed }) => seed !== Number.POSITIVE_INFINITY);
  const seeds = medianOf(judged.map(({ seed }) => seed));
  const size = medianOf(judged.map(({ size: each }) => each));
  const unfound = judged.flatMap((each) => (found.includes(each) ? [] : [`${each.bug} was not found`]));
  const large = found.filter(({ size: each }) => each > MOST_SIZE);
  return {
    reached: `${found.length} of ${judged.length} found, median seed ${seeds}, median ${size} deviations after shrinking, at most ${Math.max(0, ...found.map(({ size: each }) => each))}`,
    unfound,
    missed: [
      ...unfound,
      ...(seeds > MEDIAN_SEEDS ? [`the median seed is above ${MEDIAN_SEEDS}`] : []),
      ...(size > MEDIAN_SIZE ? [`the median size is above ${MEDIAN_SIZE} deviations`] : []),
      ...large.map(({ bug, size: each }) => `${bug} has ${each} deviations left, more than ${MOST_SIZE}`),
    ],
  };
};
