/**
 * An error thrown out of a run that is no violation: a fault of the product or of the simulator. It is a finding like
 * any other, with its seed and its tape, so that a hunt goes on (E1). The process of a run that ended is one too (E2).
 */
import { Violation } from "../base/Violation.ts";

const MOST_TEXT = 300;
const MOST_FRAMES = 3;

/** Places in this program, as source or compiled, wherever it is installed. */
const PLACE = /\b(?:core|runtime|sim|server)\/[\w/.-]+:\d+/gu;

const placesOf = (fault: unknown): string => {
  const stack = fault instanceof Error ? (fault.stack ?? "") : "";
  // The text before the first frame is the message, which may name a file too.
  const frames = stack.split("\n").filter((line) => /^\s+at /u.test(line));
  const places = frames.flatMap((line) => line.match(PLACE) ?? []).slice(0, MOST_FRAMES);
  return places.length === 0 ? "nobody knows where" : places.join(", called at ");
};

const textOf = (fault: unknown): string =>
  (fault instanceof Error ? `${fault.name}: ${fault.message}` : `something that is no error (${typeof fault})`).slice(
    0,
    MOST_TEXT,
  );

/** The finding for a thrown error. */
export const thrownOut = (fault: unknown): Violation =>
  new Violation(
    "E1",
    `a step may end in a new state or halt its peer`,
    `${textOf(fault)} was thrown at ${placesOf(fault)}`,
  );

export const PROCESS_LOST = "E2";

/**
 * The finding for a lost process.
 *
 * @param end the exit code, or the signal that ended it
 */
export const processLost = (end: number | string | null): Violation =>
  new Violation(
    PROCESS_LOST,
    "a run ends with what it found out",
    `the process that ran this seed alone ended with ${end}`,
  );
