/** Work of this thread that takes longer than others may wait, done a slice at a time. */
import { Effect } from "effect";

/** How long one slice may take; the step that passes it is finished. */
const SLICE_MILLIS = 5;

/** Everything else that waits gets its turn. */
export const othersFirst = Effect.async<void>((resume) => {
  const next = setImmediate(() => resume(Effect.void));
  return Effect.sync(() => clearImmediate(next));
});

/** One such work at a time, or the slices of many would follow each other without a pause. */
const turn = Effect.unsafeMakeSemaphore(1);

const slices = async <A>(work: Iterator<unknown, A>, elapsed: () => number, signal: AbortSignal): Promise<A> => {
  for (;;) {
    const end = elapsed() + SLICE_MILLIS;
    do {
      const step = work.next();
      if (step.done === true) return step.value;
    } while (elapsed() < end);
    await new Promise((resolve) => void setImmediate(resolve));
    signal.throwIfAborted();
  }
};

/**
 * Runs a generator to its end, with others in between; stops where its caller goes away.
 *
 * @param elapsed milliseconds of a clock that never goes back
 */
export const inSlices = <A>(work: Iterator<unknown, A>, elapsed: () => number): Effect.Effect<A> =>
  turn.withPermits(1)(Effect.promise((signal) => slices(work, elapsed, signal)));
