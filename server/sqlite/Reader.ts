/** A connection that reads on the calling thread, by statements that are prepared once, with nothing around them. */
import type { Connection } from "@effect/sql/SqlConnection";
import { SqlError } from "@effect/sql/SqlError";
import Database, { type Statement } from "better-sqlite3";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import { openingOf, settle } from "./Database.ts";
import type { StoreOpenError } from "./StoreOpenError.ts";

export interface Reader {
  /** The rows of a statement, as objects by column. Throws what SQLite throws. */
  readonly ask: (sql: string, parameters: ReadonlyArray<string | number>) => ReadonlyArray<unknown>;
  /** The same connection for those who set it up. */
  readonly connection: Pick<Connection, "executeValues">;
}

const valuesOf = (statement: Statement): ReadonlyArray<ReadonlyArray<unknown>> => {
  if (statement.reader) return statement.raw().all() as ReadonlyArray<ReadonlyArray<unknown>>;
  statement.run();
  return [];
};

/** Opens a database that is there, with the settings of a reader; closed with its scope. */
export const openReader = (file: string): Effect.Effect<Reader, StoreOpenError, Scope.Scope> =>
  Effect.gen(function* () {
    const database = yield* openingOf(
      file,
      Effect.acquireRelease(
        Effect.try(() => new Database(file, { readonly: true })),
        (open) => Effect.sync(() => open.close()),
      ),
    );
    const prepared = new Map<string, Statement>();
    const prepare = (sql: string): Statement => {
      const statement = prepared.get(sql) ?? database.prepare(sql);
      prepared.set(sql, statement);
      return statement;
    };
    const connection: Reader["connection"] = {
      executeValues: (sql) =>
        Effect.try({
          try: () => valuesOf(prepare(sql)),
          catch: (cause) => new SqlError({ cause, message: "a statement failed" }),
        }),
    };
    yield* settle(file, connection, "read");
    return { ask: (sql, parameters) => (prepared.get(sql) ?? prepare(sql)).all(...parameters), connection };
  });
