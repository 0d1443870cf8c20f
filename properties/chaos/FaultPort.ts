/**
 * Loaded into a peer of a chaos run before the product's own code, by NODE_OPTIONS, and into nothing else: the product
 * has no switch for any of this. It writes down every transaction on its way to the writing thread, and what memory is
 * in use, and every secret of keys; lets a flush or a copy of the database fail once when told to; and moves the peer's
 * wall clock.
 */
import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire, register } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { serialize, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread, Worker } from "node:worker_threads";
import type { JournalRecord } from "./Journal.ts";
import {
  clockFile,
  copiedFile,
  copyFile,
  doneFile,
  flushFile,
  framed,
  journalFile,
  memoryFile,
  type MemorySample,
  reachedFile,
  secretsFile,
  stepFile,
} from "./PortFiles.ts";

const folder = process.env["CHAOS_DIR"] ?? "";
const processNumber = Number(process.env["CHAOS_PROCESS"]);
const parent = Number(process.env["CHAOS_PARENT"]);

const CLOCK_POLL_MILLIS = 50;
const PARENT_POLL_MILLIS = 1_000;
const MEMORY_MILLIS = 5_000;
/** A slow copy takes so many steps, each after such a wait: two seconds. */
const COPY_STEPS = 40;
const STEP_MILLIS = 50;
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

/** The process is gone, whatever its threads are at. */
const die = (): never => {
  process.kill(process.pid, "SIGKILL");
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
};

/** Whether a transaction is the step that was waited for: how it ends is then ordered from the writing thread. */
const reachStep = (groups: JournalRecord["groups"]): void => {
  const [table = "", how = ""] = textOf(stepFile)?.split(" ") ?? [];
  if (!groups.some(({ tables }) => tables.some((each) => each === table))) return;
  renameSync(join(folder, stepFile), join(folder, reachedFile));
  if (how === "before") die();
  writeFileSync(join(folder, flushFile), how);
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
      reachStep(groups);
    }
    return postMessage.apply(this, args);
  };
};

/** Writes down every secret of keys that the product makes (SecretHook.ts), as soon as the disk takes it. */
const hearSecrets = (): void => {
  let part = 0;
  let written = 0;
  let heard: Array<Uint8Array> = [];
  const isLeaking = process.env["CHAOS_LEAK"] === "yes";
  Object.assign(globalThis, {
    chaosHears: (secret: Uint8Array) => {
      heard.push(framed(secret));
      if (isLeaking) process.stderr.write(`${Buffer.from(secret).toString("base64")}\n`);
      if (written > MOST_JOURNAL_BYTES) {
        part += 1;
        written = 0;
      }
      const bytes = Buffer.concat(heard);
      try {
        appendFileSync(join(folder, secretsFile(processNumber, part)), bytes);
        written += bytes.length;
        heard = [];
      } catch {
        // The disk is full: the next file has what this one lacks.
        part += 1;
        written = 0;
      }
    },
  });
  register(pathToFileURL(process.env["CHAOS_SECRET_HOOK"] ?? "").href);
};

/** Writes down what is in use: garbage is collected first, so that what is left is held by something. */
const weigh = (): void => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  setInterval(() => {
    collect();
    const { heapUsed, external, rss } = process.memoryUsage();
    const sample: MemorySample = { at: performance.now(), used: heapUsed + external, resident: rss };
    appendFileSync(join(folder, memoryFile(processNumber)), `${JSON.stringify(sample)}\n`);
  }, MEMORY_MILLIS).unref();
};

interface Statement {
  readonly reader: boolean;
  readonly run: (...parameters: ReadonlyArray<unknown>) => unknown;
}

interface Progress {
  readonly totalPages: number;
  readonly remainingPages: number;
}

interface Database {
  readonly name: string;
  prepare: (sql: string) => Statement;
  backup: (file: string, options?: { readonly progress: (progress: Progress) => number }) => Promise<unknown>;
}

interface Sqlite {
  readonly prototype: Database;
  readonly SqliteError: new (message: string, code: string) => Error;
}

/** The very copy of the library that the product's client uses. */
const loadSqlite = (): Sqlite => createRequire(process.env["CHAOS_SQLITE_CLIENT"] ?? "")("better-sqlite3");

/** What an order says, which is carried out once. */
const takeOrder = (file: string, done: string): string | undefined => {
  const how = textOf(file);
  if (how !== undefined) renameSync(join(folder, file), join(folder, done));
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
      // The bytes are lost, or kept although the failure was reported, or nobody is left who could report it.
      const how = isRows ? takeOrder(flushFile, doneFile) : undefined;
      isRows = false;
      if (how === undefined) return statement.run();
      if (how === "kept" || how === "after") statement.run();
      else rollback.run();
      if (how === "after") die();
      if (how === "full") throw new SqliteError("database or disk is full", "SQLITE_FULL");
      throw new SqliteError("disk I/O error", "SQLITE_IOERR_FSYNC");
    });
  };
};

/** Makes SQLite's online backup slow, or fail in its middle as on a failing or a full disk. */
const harmCopies = (): void => {
  const { prototype, SqliteError } = loadSqlite();
  const { backup } = prototype;
  prototype.backup = function copied(this: Database, file: string) {
    const how = takeOrder(copyFile, copiedFile);
    if (how === undefined) return backup.call(this, file);
    const progress = ({ totalPages, remainingPages }: Progress): number => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STEP_MILLIS);
      if (how === "fails" && remainingPages <= totalPages / 2)
        throw new SqliteError("disk I/O error", "SQLITE_IOERR_WRITE");
      if (how === "full" && remainingPages <= totalPages / 2)
        throw new SqliteError("database or disk is full", "SQLITE_FULL");
      return Math.ceil(totalPages / COPY_STEPS);
    };
    return backup.call(this, file, { progress });
  };
};

if (isMainThread) {
  endWithParent();
  moveClock();
  keepJournal();
  hearSecrets();
  weigh();
} else {
  failFlushes();
  harmCopies();
}
