/**
 * The byte store on SQLite. Reads run at once on the calling thread, through a connection that cannot write;
 * commits run on a thread of their own. SQLite shows a transaction to readers only after its flush, so a read
 * may see a commit a moment before `done` is called and never one that could still be lost.
 */
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Scope from "effect/Scope";
import { type ByteStore, type Change, StoreFailure } from "../../runtime/ByteStore.ts";
import { assertChanges } from "../../runtime/MemoryByteStore.ts";
import { isCopy } from "./CopyMark.ts";
import { openingOf } from "./Database.ts";
import { openReader, type Reader } from "./Reader.ts";
import { rowReader } from "./RowReader.ts";
import { databaseFile, holdDirectory, prepareDirectory } from "./StoreDirectory.ts";
import type { StoreOpenError } from "./StoreOpenError.ts";
import { type Erasing, startWriter, type Writer } from "./Writer.ts";

export interface SqliteByteStoreOptions {
  /** Holds the database and its lock; made when only its last part is missing. One store at a time. */
  readonly directory: string;
  /** For benches and tests: each flush takes this much longer. */
  readonly flushDelayMillis?: number;
  /** For tests: how many times 2 s an erasure waits for readers before it fails the store; 15 unless given. */
  readonly emptyingAttempts?: number;
  /** Told of a failure while no commit is under way, such as a deleted database. */
  readonly failed?: (failure: StoreFailure) => void;
  /** Called when the database is closed, or could not be opened, while the directory is held still; not where it never was. */
  readonly closed?: () => void;
  /** Told of the first read that failed, before it throws: nothing more is read or written. */
  readonly unreadable?: (failure: StoreFailure) => void;
}

/** See {@link ByteStore}; opened by {@link openSqliteByteStore}. */
export class SqliteByteStore implements ByteStore {
  /** Whether this database was made by a backup, and its peer has not begun to speak from it since. */
  readonly isCopy: boolean;
  readonly #rows: Omit<ByteStore, "commit">;
  readonly #writer: Writer;
  readonly #unreadable: (failure: StoreFailure) => void;
  readonly #scope: Scope.CloseableScope;
  #failure: StoreFailure | undefined;

  constructor(
    { ask }: Reader,
    copy: boolean,
    writer: Writer,
    unreadable: (failure: StoreFailure) => void,
    scope: Scope.CloseableScope,
  ) {
    this.isCopy = copy;
    this.#rows = rowReader(ask);
    this.#writer = writer;
    this.#unreadable = unreadable;
    this.#scope = scope;
  }

  readonly get: ByteStore["get"] = (table, key) => this.#read(() => this.#rows.get(table, key));

  readonly scan: ByteStore["scan"] = (table, after, limit) => this.#read(() => this.#rows.scan(table, after, limit));

  readonly keys: ByteStore["keys"] = (table, from, limit) => this.#read(() => this.#rows.keys(table, from, limit));

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

  /** The database is its peer's own again: it opens as no copy from now on. */
  readonly adopt = (): void => this.#writer.adopt();

  /** See {@link Writer.whenErasing}. */
  readonly whenErasing = (letGo: Erasing): (() => void) => this.#writer.whenErasing(letGo);

  #read<A>(read: () => A): A {
    const failure = this.#failure ?? this.#writer.failure;
    if (failure !== undefined) throw failure;
    try {
      return read();
    } catch (fault) {
      if (fault instanceof StoreFailure) {
        this.#failure = fault;
        this.#unreadable(fault);
      }
      throw fault;
    }
  }
}

const acquire = (options: SqliteByteStoreOptions, scope: Scope.CloseableScope) =>
  Effect.gen(function* () {
    const { failed = () => undefined, unreadable = () => undefined, closed = () => undefined } = options;
    yield* prepareDirectory(options.directory);
    yield* holdDirectory(options.directory);
    yield* Effect.addFinalizer(() => Effect.sync(closed));
    const file = databaseFile(options.directory);
    const { flushDelayMillis = 0, emptyingAttempts = 15 } = options;
    const writer = yield* Effect.acquireRelease(
      startWriter({ file, flushDelayMillis, emptyingAttempts }, failed),
      (started) => started.close,
    );
    const reader = yield* openReader(file);
    return new SqliteByteStore(reader, yield* isCopy(file, reader.connection), writer, unreadable, scope);
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
