/**
 * Which mutant of a program is at work. A program has all mutants of a sample in it, each behind a question to this
 * module, which a process answers the same way from its first line to its last: so mutants of what modules do when
 * they are loaded are at work too, and none leaves anything behind for the next.
 */

/** Its place in the sample; of none where the process has no argument. */
const active = Number(process.argv[2] ?? "-1");

/** Whether no mutant is at work, and what would differ with each is looked for. */
export const isRecording = active === -1;

/** The mutants that would have made a difference since {@link takeReached}. */
const reached = new Set<number>();

/** Asked by every mutated place. */
export const isActive = (mutant: number): boolean => mutant === active;

/** Told where a mutated place is executed as it stands. */
export const reach = (...mutants: ReadonlyArray<number>): void => {
  if (isRecording) for (const mutant of mutants) reached.add(mutant);
};

const isOther = (value: unknown, mutated: () => unknown): boolean => {
  try {
    return !Object.is(value, mutated());
  } catch {
    return true;
  }
};

/** Told of an expression's value, with mutants that do nothing but compute another; gives the value back. */
export const compare = <A>(value: A, mutants: false | ReadonlyArray<readonly [number, () => unknown]>): A => {
  if (mutants !== false)
    for (const [mutant, mutated] of mutants) if (!reached.has(mutant) && isOther(value, mutated)) reached.add(mutant);
  return value;
};

/** The mutants that would have made a difference since it was asked last. */
export const takeReached = (): ReadonlyArray<number> => {
  const all = [...reached];
  reached.clear();
  return all;
};
