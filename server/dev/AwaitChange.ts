/** Waits for something that somebody else works on, for as long as it changes. */
import { Clock, Effect } from "effect";

const pollMillis = 100;

/**
 * Looks again and again until there is nothing left to wait for: `look` says what there is, in words, or undefined.
 * Fails with those once they have been the same for `patienceMillis`, and with what `look` fails with.
 */
export const awaitChange = <E>(
  look: Effect.Effect<string | undefined, E>,
  patienceMillis: number,
): Effect.Effect<void, E | string> =>
  Effect.gen(function* () {
    let last: string | undefined;
    let since = 0;
    for (let seen = yield* look; seen !== undefined; seen = yield* look) {
      const now = yield* Clock.currentTimeMillis;
      if (seen !== last) since = now;
      else if (now - since >= patienceMillis) return yield* Effect.fail(seen);
      last = seen;
      yield* Effect.sleep(pollMillis);
    }
  });
