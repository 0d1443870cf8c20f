/** Delays on the machine's clock, and pauses for others. */
import type { Later, Time } from "../../runtime/Time.ts";

const timeout: Later = (run, afterMillis) => {
  const timer = setTimeout(run, afterMillis);
  return () => clearTimeout(timer);
};

/** After the events that have arrived by now; a timeout of zero would wait for a whole millisecond. */
const soon = (run: () => void): (() => void) => {
  const immediate = setImmediate(run);
  return () => clearImmediate(immediate);
};

export const later: Later = (run, afterMillis) => (afterMillis === 0 ? soon(run) : timeout(run, afterMillis));

/** How long work goes on before others are let in: a caller's read waits for two or three such stretches. */
const STRETCH_MILLIS = 4;

/**
 * For a worker that always has more to do.
 *
 * @param time the machine's, where not told otherwise
 * @returns true where it has worked long enough: then `goOn` is called later, once all that has arrived by then was taken
 * in
 */
export const pauses = (
  { elapsedMillis, later: soonAgain }: Time = { elapsedMillis: () => performance.now(), later },
): ((goOn: () => void) => boolean) => {
  let since: number | undefined;
  return (goOn) => {
    if (since === undefined) {
      since = elapsedMillis();
      soonAgain(() => void (since = undefined), 0);
      return false;
    }
    if (elapsedMillis() - since < STRETCH_MILLIS) return false;
    soonAgain(goOn, 0);
    return true;
  };
};
