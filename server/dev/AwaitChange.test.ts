import { Effect, Either, Fiber, TestClock, TestContext } from "effect";
import { describe, expect, it } from "vitest";
import { awaitChange } from "./AwaitChange.ts";

/** What comes of waiting a second at most, where each look finds the next of these, and the last one for ever. */
const waited = (seen: ReadonlyArray<string | undefined>, millis: number) => {
  let looks = 0;
  const look = Effect.sync(() => seen[Math.min(looks++, seen.length - 1)]);
  return Effect.runPromise(
    Effect.gen(function* () {
      const waiting = yield* Effect.fork(Effect.either(awaitChange(look, 1_000)));
      yield* TestClock.adjust(millis);
      return yield* Fiber.poll(waiting);
    }).pipe(Effect.flatten, Effect.flatten, Effect.either, Effect.provide(TestContext.TestContext)),
  );
};

describe("waiting for a change", () => {
  it("ends when nothing is left to wait for, however long that took", async () => {
    const many = Array.from({ length: 40 }, (_, index) => `${index} of 40`);
    expect(await waited([...many, undefined], 5_000)).toEqual(Either.right(Either.right(undefined)));
  });

  it("ends with what has been the same for too long, and not before", async () => {
    expect(Either.isLeft(await waited(["far away"], 900))).toBe(true);
    expect(await waited(["far away"], 1_100)).toEqual(Either.right(Either.left("far away")));
  });
});
