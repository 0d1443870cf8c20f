/** A line that tells how long something takes, on a terminal alone. */
import { Effect } from "effect";

const EVERY_MILLIS = 1_000;

/** Runs an effect, and counts its seconds on standard error. */
export const whileWaiting = <A, E, R>(
  what: string,
  run: Effect.Effect<A, E, R>,
  stream = process.stderr,
): Effect.Effect<A, E, R> => {
  if (!stream.isTTY) return run;
  const show = (seconds: number): void => void stream.write(`\r\u001b[2K${what}: ${seconds} s`);
  return Effect.acquireUseRelease(
    Effect.sync(() => {
      let seconds = 0;
      show(seconds);
      return setInterval(() => show((seconds += 1)), EVERY_MILLIS);
    }),
    () => run,
    (timer) =>
      Effect.sync(() => {
        clearInterval(timer);
        stream.write("\r\u001b[2K");
      }),
  );
};
