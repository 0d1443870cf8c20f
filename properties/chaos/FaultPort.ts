/**
 * Loaded into a peer of a chaos run before the product's own code, by NODE_OPTIONS, and into nothing else: the product
 * has no switch for any of this. It writes down every transaction on its way to the writing thread, lets a flush fail
 * once when told to, and moves the peer's wall clock.
 */
import { appendFileSync, readFileSync, renameSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { serialize } from "node:v8";
import { isMainThread, Worker } from "node:worker_threads";
import type { JournalRecord } from "./Journal.ts";
import { clockFile, doneFile, flushFile, framed, journalFile } from "./PortFiles.ts";

const folder = process.env["CHAOS_DIR"] ?? "";
const processNumber = Number(process.env["CHAOS_PROCESS"]);
const parent = Number(process.env["CHAOS_PARENT"]);

const CLOCK_POLL_MILLIS = 50;
const PARENT_POLL_MILLIS = 1_000;
/** Files stay short, so that a limit on the size of files is reached by the database first. */
const MOST_JOURNAL_BYTES = 512 * 1024;

const textOf = (file: string): string | undefined => {
  try {
    return readFileSync(join(folder, file), "utf8");
  } catch {
    return undefined;
  }
};

/** No peer outlives the run that started it. */
const endWithParent = (): void => {
  setInterval(() => {
    if (process.ppid !== parent) process.exit(1);
  }, PARENT_POLL_MILLIS).unref();
};

/** The wall clock is off by what the clock file says; clocks that only go forward are left alone. */
const moveClock = (): void => {
  const RealDate = Date;
  let offsetMillis = Number(textOf(clockFile) ?? 0);
  setInterval(() => {
    offsetMillis = Number(textOf(clockFile) ?? 0);
  }, CLOCK_POLL_MILLIS).unref();
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, self) =>
      Reflect.construct(target, args.length === 0 ? [target.now() + offsetMillis] : args, self),
    get: (target, name, self) => (name === "now" ? () => target.now() + offsetMillis : Reflect.get(target, name, self)),
  });
};

const isCommit = (message: unknown): message is Pick<JournalRecord, "groups" | "bytes"> =>
  typeof message === "object" && message !== null && "kind" in message && message.kind === "commit";

/**
 * Writes each transaction down before it is handed to the writing thread. The next one shows whether it was carried
 * out: the store numbers its transactions, and uses the number of a failed one again.
 */
const keepJournal = (): void => {
  let part = 0;
  let written = 0;
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function post(this: Worker, ...args: Parameters<Worker["postMessage"]>) {
    const [message] = args;
    if (isCommit(message)) {
      const { groups, bytes } = message;
      const record: JournalRecord = { stamp: Number(process.hrtime.bigint() / 1000n), groups, bytes };
      const frame = framed(serialize(record));
      if (written > MOST_JOURNAL_BYTES) {
        part += 1;
        written = 0;
      }
      appendFileSync(join(folder, journalFile(processNumber, part)), frame);
      written += frame.length;
    }
    return postMessage.apply(this, args);
  };
};

interface Statement {
  readonly reader: boolean;
  readonly run: (...parameters: ReadonlyArray<unknown>) => unknown;
}

interface Database {
  readonly name: string;
  prepare: (sql: string) => Statement;
}

interface Sqlite {
  readonly prototype: Database;
  readonly SqliteError: new (message: string, code: string) => Error;
}

/** The very copy of the library that the product's client uses. */
const loadSqlite = (): Sqlite => createRequire(process.env["CHAOS_SQLITE_CLIENT"] ?? "")("better-sqlite3");

/** How the next flush shall fail, once: the bytes `lost`, or `kept` although the failure was reported. */
const takeFault = (): string | undefined => {
  const how = textOf(flushFile);
  if (how !== undefined) renameSync(join(folder, flushFile), join(folder, doneFile));
  return how;
};

/** A statement that does something else instead of running. */
const running = (statement: Statement, run: () => unknown): Statement =>
  new Proxy(statement, {
    get: (target, name) => (name === "run" ? run : Reflect.get(target, name, target)),
  });

/** Makes COMMIT fail as SQLite does when `fsync` gives EIO; only in transactions of rows, not while the file is opened. */
const failFlushes = (): void => {
  const { prototype, SqliteError } = loadSqlite();
  const { prepare } = prototype;
  let isRows = false;
  prototype.prepare = function prepared(this: Database, sql: string) {
    const statement = prepare.call(this, sql);
    if (!this.name.endsWith("custody.db")) return statement;
    if (sql === "BEGIN IMMEDIATE")
      return running(statement, () => {
        isRows = true;
        return statement.run();
      });
    if (sql !== "COMMIT") return statement;
    const rollback = prepare.call(this, "ROLLBACK");
    return running(statement, () => {
      const how = isRows ? takeFault() : undefined;
      isRows = false;
      if (how === undefined) return statement.run();
      if (how === "kept") statement.run();
      else rollback.run();
      throw new SqliteError("disk I/O error", "SQLITE_IOERR_FSYNC");
    });
  };
};

if (isMainThread) {
  endWithParent();
  moveClock();
  keepJournal();
} else failFlushes();
