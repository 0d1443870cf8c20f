/** The directory of one peer's database: made durable, and held by one process at a time. */
import { closeSync, constants, existsSync, fsyncSync, mkdirSync, openSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import { openClient, openingOf, values } from "./Database.ts";
import { StoreOpenError } from "./StoreOpenError.ts";

/** The database inside a data directory. Absolute, so that SQLite never takes it for a URI. */
export const databaseFile = (directory: string): string => join(resolve(directory), "custody.db");

/**
 * Nothing but SQLite may open this file inside the process that holds the lock: POSIX drops a process's locks
 * on a file as soon as it closes any descriptor of it.
 */
export const lockFile = (directory: string): string => join(resolve(directory), "custody.lock");

/** Stays when a database is lost: without it a peer would start as if it had never been initialized. */
const initializedFile = (directory: string): string => join(resolve(directory), "custody.initialized");

/** Whether a peer was ever initialized in a directory. */
export const isMarkedInitialized = (directory: string): boolean => existsSync(initializedFile(directory));

/** Leaves the mark, durably; throws the disk's errors. */
export const markInitialized = (directory: string): void => {
  if (isMarkedInitialized(directory)) return;
  const text =
    "A peer was initialized here. Where custody.db is gone, put back its backup; do not initialize it anew.\n";
  writeFileSync(initializedFile(directory), text, { mode: 0o600, flush: true });
  flushNames(resolve(directory));
};

/** Flushes the names in a directory: a file whose name is lost with the power is lost with it. */
export const flushNames = (directory: string): void => {
  const descriptor = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
};

/** SQLite gives its log and its index the permissions of the database. */
const makePrivate = (file: string): void => {
  if (!existsSync(file)) closeSync(openSync(file, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600));
};

/** The first of a directory and its files that other users may read, with the command that closes it to them. */
const openToOthers = (directory: string): StoreOpenError | undefined => {
  if (process.platform === "win32") return undefined;
  const file = databaseFile(directory);
  const wanted = [
    [resolve(directory), "700"],
    [file, "600"],
    [`${file}-wal`, "600"],
  ] as const;
  const found = wanted.find(([path]) => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0);
  return found && new StoreOpenError({ reason: "open", file: found[0], detail: `chmod ${found[1]} ${found[0]}` });
};

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/**
 * Why a peer must not start with a directory as it is; undefined also where there is none. A write-ahead log without
 * its database: SQLite would start an empty database and delete the log with the transactions in it. A database that
 * is gone. Files that other users may read.
 */
export const directoryFault = (directory: string): StoreOpenError | undefined => {
  const file = databaseFile(directory);
  if (sizeOf(file) === 0 && sizeOf(`${file}-wal`) > 0)
    return new StoreOpenError({ reason: "corrupt", file, detail: "only its log is left" });
  if (sizeOf(file) === 0 && isMarkedInitialized(directory)) return new StoreOpenError({ reason: "missing", file });
  return openToOthers(directory);
};

/**
 * Creates the directory (0700) when only it is missing and flushes its own name, refuses what {@link directoryFault}
 * refuses, and makes files with 0600.
 */
export const prepareDirectory = (directory: string): Effect.Effect<void, StoreOpenError> =>
  Effect.try({
    try: () => {
      const path = resolve(directory);
      if (!existsSync(path)) mkdirSync(path, { mode: 0o700 });
      flushNames(dirname(path));
      flushNames(path);
    },
    catch: () => new StoreOpenError({ reason: "no-directory", file: directory }),
  }).pipe(
    Effect.tap(() => Effect.suspend(() => directoryFault(directory) ?? Effect.void)),
    Effect.tap(() =>
      Effect.try({
        try: () => [databaseFile(directory), lockFile(directory)].forEach(makePrivate),
        catch: () => new StoreOpenError({ reason: "not-writable", file: resolve(directory) }),
      }),
    ),
  );

/**
 * Holds the directory for this process until the scope closes; the kernel lets go when the process dies in any
 * other way. An open exclusive transaction on a file of its own leaves the database free for its two connections.
 * Fails with reason `in-use` when another store, here or in another process, holds it.
 */
export const holdDirectory = (directory: string): Effect.Effect<void, StoreOpenError, Scope.Scope> => {
  const file = lockFile(directory);
  return Effect.gen(function* () {
    const client = yield* openClient(file, "write");
    const connection = yield* client.reserve;
    yield* values(connection, "PRAGMA busy_timeout = 0");
    yield* values(connection, "PRAGMA journal_mode = MEMORY");
    yield* values(connection, "BEGIN EXCLUSIVE");
  }).pipe(
    (held) => openingOf(file, held),
    Effect.mapError((error) =>
      error.reason === "busy" ? new StoreOpenError({ reason: "in-use", file: resolve(directory) }) : error,
    ),
  );
};
