import { Effect, Either } from "effect";
import { expect, it } from "vitest";
import { pageFaults } from "./CopyStore.ts";

const found = (...rows: ReadonlyArray<string>) =>
  Effect.runPromise(
    Effect.either(pageFaults("/scratch/custody.db", { executeValues: () => Effect.succeed(rows.map((row) => [row])) })),
  );

it("tells what SQLite finds in pages from pages that the disk does not give", async () => {
  expect(await found("ok")).toEqual(Either.right([]));
  const damage = "Tree 5 page 7: btreeInitPage() returns error code 11";
  expect(await found(damage)).toEqual(Either.right([damage]));
  for (const unread of ["Tree 5 page 7: unable to get the page. error code=266", "Freelist: failed to get page 9"])
    expect(await found(damage, unread)).toMatchObject({
      left: { reason: "unreadable", message: `/scratch/custody.db cannot be read; check the disk (${unread})` },
    });
});
