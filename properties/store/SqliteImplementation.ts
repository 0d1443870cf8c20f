import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Exit, Scope } from "effect";
import { openClient } from "../../server/sqlite/Database.ts";
import { openSqliteByteStore } from "../../server/sqlite/SqliteByteStore.ts";
import { databaseFile } from "../../server/sqlite/StoreDirectory.ts";
import type { Implementation } from "./Implementation.ts";

/** Takes SQLite's write lock from outside, so that the store's next commit waits for the function returned. */
const holdWriteLock = (directory: string): (() => void) => {
  const scope = Effect.runSync(Scope.make());
  const locked = Effect.gen(function* () {
    const client = yield* openClient(databaseFile(directory), "write");
    const connection = yield* client.reserve;
    yield* connection.execute("BEGIN IMMEDIATE", [], undefined);
  });
  Effect.runSync(Scope.extend(locked, scope));
  return () => Effect.runSync(Scope.close(scope, Exit.void));
};

/** SQLite in a directory of its own. */
export const sqlite: Implementation = {
  name: "SQLite",
  open: async () => {
    const directory = mkdtempSync(join(tmpdir(), "custody-store-"));
    const openStore = () => Effect.runPromise(openSqliteByteStore({ directory }));
    let store = await openStore();
    let release: (() => void) | undefined;
    const close = () => Effect.runPromise(Effect.ignore(store.close));
    return {
      store: () => store,
      hold: () => {
        release = holdWriteLock(directory);
      },
      advance: () => {
        release?.();
        release = undefined;
      },
      reopen: async () => {
        await close();
        store = await openStore();
      },
      dispose: async () => {
        await close();
        rmSync(directory, { recursive: true });
      },
    };
  },
};
