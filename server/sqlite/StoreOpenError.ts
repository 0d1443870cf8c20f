/** Why a peer's database could not be opened, naming the file and what to do next. */
import * as Data from "effect/Data";

/** The reason, with what an operator does about it. */
const advice = {
  "in-use": "is in use by another process; stop that process, or give this peer a data directory of its own",
  "no-directory": "is not a directory that can be used; create it or its parent, or correct the data directory",
  open: "may be read by other users; close it to them as follows, and start again",
  "not-a-database": "is not a SQLite database; restore it from a backup, or correct the data directory",
  foreign: "is the database of another program; correct the data directory",
  newer: "was written by a newer version of this program; start that version",
  schema: "lacks a table or has one too many; start the version that wrote it, or restore a backup",
  missing:
    "is gone, and this peer was initialized here; put back its newest backup with custody restore --from, or remove custody.initialized to give up what the peer was and begin anew",
  corrupt: "is damaged; restore it from a backup",
  "not-writable": "cannot be written; give this user write permission on the file and its directory",
  "disk-full": "cannot grow because the disk is full; free space on it",
  busy: "is locked by another program (a backup, a database shell); close that program",
  "not-durable": "cannot be held with durable settings; put the data directory on a local disk",
  thread: "has no thread to write it; repair the installation of this program",
  "no-binding":
    "cannot be opened, because better-sqlite3 was not built for this Node; where npm holds back install scripts allow that one, then run npm rebuild better-sqlite3",
  unreadable: "cannot be read; check the disk",
} as const;

export type StoreOpenReason = keyof typeof advice;

const reasonOfCode: ReadonlyArray<readonly [prefix: string, reason: StoreOpenReason]> = [
  ["SQLITE_NOTADB", "not-a-database"],
  ["SQLITE_CORRUPT", "corrupt"],
  ["SQLITE_READONLY", "not-writable"],
  ["SQLITE_CANTOPEN", "not-writable"],
  ["SQLITE_PERM", "not-writable"],
  ["SQLITE_FULL", "disk-full"],
  ["SQLITE_BUSY", "busy"],
];

/** The code SQLite gave for an error (`SQLITE_…`), looked for along its chain of causes. */
export const sqliteCode = (error: unknown): string | undefined => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && typeof cause.code === "string" && cause.code.startsWith("SQLITE_")) return cause.code;
  }
  return undefined;
};

/** Whether the native part of the SQLite library is missing, or was built for another Node. */
const isWithoutBinding = (error: unknown): boolean => {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause.message.startsWith("Could not locate the bindings file") || cause.message.includes("NODE_MODULE_VERSION"))
      return true;
  return false;
};

/** A database that must not be used. `file` is the path the reason is about. */
export class StoreOpenError extends Data.TaggedError("StoreOpenError")<{
  readonly reason: StoreOpenReason;
  readonly file: string;
  /** The exact finding; never a stored value. */
  readonly detail?: string | undefined;
}> {
  override get message(): string {
    return `${this.file} ${advice[this.reason]}${this.detail === undefined ? "" : ` (${this.detail})`}`;
  }
}

/** Names what went wrong with `file` by SQLite's own code. A {@link StoreOpenError} is passed through. */
export const storeOpenError = (file: string, error: unknown): StoreOpenError => {
  if (error instanceof StoreOpenError) return error;
  if (isWithoutBinding(error)) return new StoreOpenError({ reason: "no-binding", file });
  const code = sqliteCode(error);
  const reason = reasonOfCode.find(([prefix]) => code?.startsWith(prefix))?.[1] ?? "unreadable";
  return new StoreOpenError({ reason, file, detail: code ?? (error instanceof Error ? error.message : undefined) });
};
