/** The yardstick: one row per flushed SQLite commit on the same disk, through the same library, and nothing else. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as Reactivity from "@effect/experimental/Reactivity";
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient";
import { Effect } from "effect";

/** Milliseconds of each commit. */
export const bareCommits = (besides: string, count: number): Promise<ReadonlyArray<number>> => {
  const folder = mkdtempSync(join(besides, "bare-"));
  const program = Effect.gen(function* () {
    const sql = yield* SqliteClient.make({ filename: join(folder, "bare.db") });
    yield* sql`PRAGMA synchronous = FULL`;
    yield* sql`CREATE TABLE rows (key INTEGER PRIMARY KEY, row BLOB NOT NULL)`;
    const row = new Uint8Array(512);
    const latencies: Array<number> = [];
    for (let key = 0; key < count; key++) {
      const began = performance.now();
      yield* sql`INSERT INTO rows ${sql.insert({ key, row })}`;
      latencies.push(performance.now() - began);
    }
    return latencies;
  });
  return Effect.runPromise(Effect.scoped(Effect.provide(program, Reactivity.layer))).finally(() =>
    rmSync(folder, { recursive: true, force: true }),
  );
};
