/**
 * The byte store on SQLite. Reads run at once on the calling thread, through a connection that cannot write;
 * commits run on a thread of their own. SQLite shows a transaction to readers only after its flush, so a read
 * may see a commit a moment before `done` is called and never one that could still be lost.
 */
import type { Connection } from "@effect/sql/SqlConnection";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Scope from "effect/Scope";
import type { TableName } from "../../core/Tables.ts";
import { type ByteStore, type Change, StoreFailure, type StoredRow } from "../../runtime/ByteStore.ts";
import { assertChanges, assertScanLimit } from "../../runtime/MemoryByteStore.ts";
import { openClient, openingOf, settle } from "./Database.ts";
import { placeOf } from "./Layout.ts";
import { databaseFile, holdDirectory, prepareDirectory } from "./StoreDirectory.ts";
import { sqliteCode, type StoreOpenError } from "./StoreOpenError.ts";
import { startWriter, type Writer } from "./Writer.ts";

export interface SqliteByteStoreOptions {
  /** Holds the database and its lock; made when only its last part is missing. One store at a time. */
  readonly directory: string;
  /** For benches and tests: each flush takes this much longer. */
  readonly flushDelayMillis?: number;
  /** Told of a failure while no commit is under way, such as a deleted database. */
  readonly failed?: (failure: StoreFailure) => void;
}

/** Plain arrays: a Buffer's `slice` would share what an array's copies. */
const plain = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const storedRow = (found: unknown): StoredRow => {
  if (typeof found === "object" && found !== null && "row" in found && "seal" in found) {
    const { row, seal } = found;
    if (row instanceof Uint8Array && seal instanceof Uint8Array) return { row: plain(row), seal: plain(seal) };
  }
  throw new TypeError("a stored row is not bytes");
};

const keyedRow = (found: unknown): { readonly key: string; readonly value: StoredRow } => {
  if (typeof found === "object" && found !== null && "key" in found && typeof found.key === "string") {
    return { key: found.key, value: storedRow(found) };
  }
  throw new TypeError("a stored key is not text");
};

/** See {@link ByteStore}; opened by {@link openSqliteByteStore}. */
export class SqliteByteStore implements ByteStore {
  readonly #reader: Connection;
  readonly #writer: Writer;
  readonly #scope: Scope.CloseableScope;
  #failure: StoreFailure | undefined;

  constructor(reader: Connection, writer: Writer, scope: Scope.CloseableScope) {
    this.#reader = reader;
    this.#writer = writer;
    this.#scope = scope;
  }

  readonly get = (table: TableName, key: string): StoredRow | undefined =>
    this.#read(`SELECT row, seal FROM ${placeOf(table)} WHERE name = ? AND key = ?`, [table, key], storedRow)[0];

  readonly scan = (
    table: TableName,
    after: string,
    limit: number,
  ): ReadonlyArray<{ readonly key: string; readonly value: StoredRow }> => {
    assertScanLimit(limit);
    const sql = `SELECT key, row, seal FROM ${placeOf(table)} WHERE name = ? AND key > ? ORDER BY key LIMIT ?`;
    return this.#read(sql, [table, after, limit], keyedRow);
  };

  readonly commit = (changes: ReadonlyArray<Change>, done: (failure?: StoreFailure) => void): void => {
    assertChanges(changes);
    const failure = this.#failure ?? this.#writer.failure;
    if (failure !== undefined) return queueMicrotask(() => done(failure));
    if (this.#writer.committing) throw new TypeError("a commit is under way already; wait for it");
    this.#writer.commit(changes, done);
  };

  /**
   * Refuses new calls, lets the commit under way finish, writes the log back and lets the directory go. Fails with
   * {@link StoreFailure} when the writing thread had failed. Closing twice is harmless.
   */
  readonly close: Effect.Effect<void, StoreFailure> = Effect.suspend(() => {
    this.#failure ??= new StoreFailure("the store is closed");
    return Effect.zipRight(
      Scope.close(this.#scope, Exit.void),
      Effect.suspend(() => (this.#writer.failure === undefined ? Effect.void : Effect.fail(this.#writer.failure))),
    );
  });

  #read<A>(sql: string, parameters: ReadonlyArray<string | number>, parse: (found: unknown) => A): ReadonlyArray<A> {
    const failure = this.#failure ?? this.#writer.failure;
    if (failure !== undefined) throw failure;
    const exit = Effect.runSyncExit(
      Effect.flatMap(this.#reader.execute(sql, parameters, undefined), (rows) => Effect.try(() => rows.map(parse))),
    );
    if (Exit.isSuccess(exit)) return exit.value;
    const why = sqliteCode(Cause.squash(exit.cause)) ?? "a row has another shape than it was written with";
    this.#failure = new StoreFailure(`the database cannot be read: ${why}; check the disk and start this peer again`);
    throw this.#failure;
  }
}

const acquire = (options: SqliteByteStoreOptions, scope: Scope.CloseableScope) =>
  Effect.gen(function* () {
    yield* prepareDirectory(options.directory);
    yield* holdDirectory(options.directory);
    const file = databaseFile(options.directory);
    const writer = yield* Effect.acquireRelease(
      startWriter({ file, flushDelayMillis: options.flushDelayMillis ?? 0 }, options.failed ?? (() => undefined)),
      (started) => started.close,
    );
    const client = yield* openClient(file, "read");
    const reader = yield* client.reserve;
    yield* settle(file, reader, "read");
    return new SqliteByteStore(reader, writer, scope);
  }).pipe((opening) => openingOf(options.directory, opening));

/**
 * Opens the database in a directory, or makes one. Before anything can be read, commits that a killed process had not
 * flushed are flushed, the durable settings are set and read back, and migrations are applied.
 * Its thread keeps the process alive until the store is closed.
 * Fails with {@link StoreOpenError}, which names the file and what to do.
 */
export const openSqliteByteStore = (options: SqliteByteStoreOptions): Effect.Effect<SqliteByteStore, StoreOpenError> =>
  Effect.gen(function* () {
    const scope = yield* Scope.make();
    return yield* Effect.onError(Scope.extend(acquire(options, scope), scope), (cause) =>
      Scope.close(scope, Exit.failCause(cause)),
    );
  });
