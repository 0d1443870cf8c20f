/** One connection to a SQLite file with the settings durability rests on: set, then read back, on every open. */
import * as Reactivity from "@effect/experimental/Reactivity";
import type { Connection } from "@effect/sql/SqlConnection";
import type { SqlError } from "@effect/sql/SqlError";
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient";
import * as Cause from "effect/Cause";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import "./KeptStatements.ts";
import { StoreOpenError, storeOpenError } from "./StoreOpenError.ts";

type Value = string | number;
type Setting = readonly [name: string, set: string, readBack: Value];

/**
 * NORMAL, the library's default, flushes only at checkpoints: an acknowledged receipt could vanish with the power.
 * On macOS only `fullfsync` reaches the disk. Automatic checkpoints are off because SQLite hides their failures.
 */
const writerSettings: ReadonlyArray<Setting> = [
  ["busy_timeout", "2000", 2000],
  ["journal_mode", "WAL", "wal"],
  ["synchronous", "FULL", 2],
  ["fullfsync", "ON", 1],
  ["checkpoint_fullfsync", "ON", 1],
  ["wal_autocheckpoint", "0", 0],
  // What is deleted is overwritten with zeros: an erased share is nowhere in the file.
  ["secure_delete", "ON", 1],
];

/** Nothing in this process makes a reader wait, and the thread that answers HTTP must not wait for others. */
const readerSettings: ReadonlyArray<Setting> = [
  ["busy_timeout", "100", 100],
  ["query_only", "ON", 1],
  ["journal_mode", "WAL", "wal"],
  ["synchronous", "FULL", 2],
];

/** SQL texts kept prepared: every table, kind of change and size of group. */
const preparedStatements = 1024;

/** Turns any failure about `file`, thrown or returned, into a {@link StoreOpenError}. */
export const openingOf = <A, E, R>(file: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, StoreOpenError, R> =>
  Effect.catchAllCause(effect, (cause) => Effect.fail(storeOpenError(file, Cause.squash(cause))));

/** A client on one connection to `file`, closed with its scope; nothing about it is set yet. */
export const openClient = (
  file: string,
  access: "read" | "write",
): Effect.Effect<SqliteClient.SqliteClient, StoreOpenError, Scope.Scope> =>
  openingOf(
    file,
    SqliteClient.make({
      filename: file,
      readonly: access === "read",
      // Set below and read back, once it is known which program the database belongs to.
      disableWAL: true,
      prepareCacheSize: preparedStatements,
      // Each is kept by KeptStatements.ts in any case.
      prepareCacheTTL: Duration.infinity,
    }).pipe(Effect.provideServiceEffect(Reactivity.Reactivity, Reactivity.make)),
  );

/** Runs one statement and gives its rows as arrays of column values. */
export const values = (
  connection: Pick<Connection, "executeValues">,
  sql: string,
): Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, SqlError> => connection.executeValues(sql, []);

/** The first column of the first row. */
export const value = (connection: Pick<Connection, "executeValues">, sql: string): Effect.Effect<unknown, SqlError> =>
  Effect.map(values(connection, sql), (rows) => rows[0]?.[0]);

/** Sets what `access` needs and reads it back. Fails with reason `not-durable` when a setting did not hold. */
export const settle = (
  file: string,
  connection: Pick<Connection, "executeValues">,
  access: "read" | "write",
): Effect.Effect<void, StoreOpenError> =>
  openingOf(
    file,
    Effect.forEach(
      access === "write" ? writerSettings : readerSettings,
      ([name, set, readBack]) =>
        Effect.gen(function* () {
          yield* values(connection, `PRAGMA ${name} = ${set}`);
          const found = yield* value(connection, `PRAGMA ${name}`);
          if (found === readBack) return;
          yield* new StoreOpenError({ reason: "not-durable", file, detail: `${name} did not become ${set}` });
        }),
      { discard: true },
    ),
  );

/** Writes the log back and empties it, unless a reader still needs something of it; whether it is empty now. */
export const emptyLog = (connection: Pick<Connection, "executeValues">): Effect.Effect<boolean, SqlError> =>
  Effect.map(values(connection, "PRAGMA wal_checkpoint(TRUNCATE)"), (rows) => {
    const [busy, framesLeft] = rows[0] ?? [];
    return busy === 0 && framesLeft === 0;
  });

/**
 * Makes everything committed so far durable in the database file itself and empties the log. After a process was
 * killed between writing and flushing, its last transaction is readable again and still not on the disk.
 */
export const checkpointAll = (file: string, connection: Connection): Effect.Effect<void, StoreOpenError> =>
  openingOf(
    file,
    Effect.gen(function* () {
      if (yield* emptyLog(connection)) return;
      yield* new StoreOpenError({ reason: "busy", file, detail: "its log could not be emptied" });
    }),
  );
