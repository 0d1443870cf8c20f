/** The thread that owns the one writing connection, so that a flush never stops the thread that answers HTTP. */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import type { Connection } from "@effect/sql/SqlConnection";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Scope from "effect/Scope";
import { markedAs } from "./CopyMark.ts";
import { checkpointAll, emptyLog, openClient, openingOf, settle, value, values } from "./Database.ts";
import { places } from "./Layout.ts";
import { claim, migrate } from "./Migrations.ts";
import { OpenFiles } from "./OpenFiles.ts";
import { statementsOf } from "./Statements.ts";
import { sqliteCode } from "./StoreOpenError.ts";
import type { CommitRequest, WriterOptions, WriterReply, WriterRequest } from "./WriterMessage.ts";

/** The log is written back once it may have grown by this much: about SQLite's own thousand pages. */
const checkpointAfterBytes = 4 * 1024 * 1024;
/** The space of a small row in the log: its page of the index; the rows themselves are close together. */
const rowBytes = 4096;

/** How often a database is checked to which nothing is written. */
const watchMillis = 1_000;

/** A change that did not find its row, or found one where none should be. */
class RowMismatch extends Error {
  override readonly name = "RowMismatch";
}

/** A reader that never ends keeps what was erased in the log. */
class LogHeld extends Error {
  override readonly name = "LogHeld";
}

const openWriter = ({ file }: WriterOptions) =>
  Effect.gen(function* () {
    const client = yield* openClient(file, "write");
    yield* Effect.scoped(
      Effect.gen(function* () {
        const connection = yield* client.reserve;
        yield* claim(file, connection);
        yield* settle(file, connection, "write");
        yield* checkpointAll(file, connection);
      }),
    );
    yield* migrate(file, client, places);
    return yield* client.reserve;
  }).pipe((opening) => openingOf(file, opening));

const changedRows = (result: unknown): unknown =>
  typeof result === "object" && result !== null && "changes" in result ? result.changes : undefined;

/** Runs an effect at once and throws what it fails with. A fiber for each statement costs less than one for all. */
const runNow = <A>(effect: Effect.Effect<A, unknown>): A => {
  const exit = Effect.runSyncExit(effect);
  if (Exit.isSuccess(exit)) return exit.value;
  throw Cause.squash(exit.cause);
};

/** IMMEDIATE takes the write lock at once: a deferred transaction could find it taken halfway. */
const transact = (connection: Connection, request: CommitRequest, flushDelayMillis: number): void => {
  runNow(connection.executeRaw("BEGIN IMMEDIATE", []));
  for (const { sql, parameters, rows } of statementsOf(request)) {
    if (changedRows(runNow(connection.executeRaw(sql, parameters))) !== rows)
      throw new RowMismatch("a row to change is missing");
  }
  if (flushDelayMillis > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, flushDelayMillis);
  runNow(connection.executeRaw("COMMIT", []));
};

/** Writes the log back without waiting for readers; what a reader still needs stays for the next time. */
const checkpoint = (connection: Connection) => value(connection, "PRAGMA wal_checkpoint(PASSIVE)");

/**
 * Empties the log of what a transaction erased. Nothing is acknowledged before, so that nobody takes for gone what is
 * still there; where a reader does not end, this fails as a flush does, and the next start empties the log first.
 */
const eraseFromLog = (connection: Connection, attempts: number): void => {
  for (let attempt = 1; attempt <= attempts; attempt++) if (runNow(emptyLog(connection))) return;
  throw new LogHeld(
    "its log could not be emptied of an erased share or an old vault, because something reads the database",
  );
};

const serve = (
  port: MessagePort,
  connection: Connection,
  scope: Scope.CloseableScope,
  options: WriterOptions,
): void => {
  let unwritten = 0;
  const files = new OpenFiles(options.file);
  const reply = (message: WriterReply): void => port.postMessage(message);
  const run = (task: () => void, after?: WriterReply): boolean => {
    try {
      task();
    } catch (error) {
      // Whether the transaction is on the disk is unknown. Nothing is tried again here: the peer stops and finds out.
      clearInterval(watch);
      reply({ kind: "failed", why: sqliteCode(error) ?? (error instanceof Error ? error.message : "unknown") });
      port.close();
      return false;
    }
    if (after !== undefined) reply(after);
    return true;
  };
  /** Checked before every acknowledgement, and now and then: no row is acknowledged in a file without its name. */
  const isLost = (): boolean => {
    const file = files.lost();
    if (file === undefined) return false;
    clearInterval(watch);
    reply({ kind: "lost", file });
    port.close();
    return true;
  };
  const watch = setInterval(isLost, watchMillis);
  const commit = (request: CommitRequest): void => {
    const flush = (): void => {
      transact(connection, request, options.flushDelayMillis);
      if (!request.erases) return;
      eraseFromLog(connection, options.emptyingAttempts);
      unwritten = 0;
    };
    if (!run(flush) || isLost()) return;
    reply({ kind: "committed" });
    if (request.erases) return;
    for (const { keys } of request.groups) unwritten += keys.length * rowBytes;
    unwritten += request.bytes.length;
    if (unwritten < checkpointAfterBytes) return;
    // After the acknowledgement, so that no caller waits for it unless it comes back at once.
    unwritten = 0;
    run(() => runNow(checkpoint(connection)));
  };
  port.on("message", (request: WriterRequest) => {
    if (request.kind === "commit") return commit(request);
    if (request.kind === "adopt") return void run(() => runNow(values(connection, markedAs("own"))));
    clearInterval(watch);
    const finish = Effect.zipRight(checkpoint(connection), Scope.close(scope, Exit.void));
    if (run(() => runNow(finish), { kind: "closed" })) port.close();
  });
  reply({ kind: "opened" });
};

const start = (port: MessagePort, options: WriterOptions): void => {
  const scope = Effect.runSync(Scope.make());
  const opened = Effect.runSync(Effect.either(Scope.extend(openWriter(options), scope)));
  if (opened._tag === "Right") return serve(port, opened.right, scope, options);
  const { reason, file, detail } = opened.left;
  Effect.runSync(Scope.close(scope, Exit.void));
  port.postMessage({ kind: "refused", reason, file, detail } satisfies WriterReply);
};

if (parentPort === null) throw new Error("this module runs as a worker thread of the store");
start(parentPort, workerData);
