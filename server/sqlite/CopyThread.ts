/** The thread that copies the database of a running peer, so that neither its reads nor its commits wait for that. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import * as Effect from "effect/Effect";
import { isCopy, markedAs } from "./CopyMark.ts";
import type { Copied, CopyOptions, CopyReply } from "./CopyMessage.ts";
import { openClient, openingOf, value, values } from "./Database.ts";
import { StoreOpenError } from "./StoreOpenError.ts";

/** SQLite's online backup: all committed rows of one moment. */
const copy = ({ file, target }: CopyOptions) =>
  Effect.gen(function* () {
    const client = yield* openClient(file, "read");
    // Without an open transaction, every commit in between would begin the copy anew.
    yield* client.unsafe("BEGIN");
    yield* client.unsafe("SELECT count(*) FROM sqlite_schema");
    yield* client.backup(target);
  }).pipe(Effect.scoped, (copying) => openingOf(target, copying));

/** Makes the copy one file that can be read from any medium, and marks it. */
const mark = ({ target }: CopyOptions) =>
  Effect.gen(function* () {
    const client = yield* openClient(target, "write");
    const connection = yield* client.reserve;
    const mode = yield* value(connection, "PRAGMA journal_mode = DELETE");
    yield* values(connection, markedAs("copy"));
    if (mode === "delete" && (yield* isCopy(target, connection))) return;
    yield* new StoreOpenError({ reason: "unreadable", file: target, detail: "the copy could not be marked" });
  }).pipe(Effect.scoped, (marking) => openingOf(target, marking));

const digestOf = ({ target }: CopyOptions) =>
  Effect.promise(async (): Promise<Copied> => {
    const hash = createHash("sha256");
    let bytes = 0;
    for await (const chunk of createReadStream(target, { highWaterMark: 1024 * 1024 })) {
      if (!(chunk instanceof Uint8Array)) continue;
      hash.update(chunk);
      bytes += chunk.length;
    }
    return { bytes, sha256: hash.digest("hex") };
  });

const run = async (port: MessagePort, options: CopyOptions): Promise<void> => {
  const copying = Effect.zipRight(copy(options), Effect.zipRight(mark(options), digestOf(options)));
  const done = await Effect.runPromise(Effect.either(copying));
  const reply: CopyReply =
    done._tag === "Right"
      ? { kind: "copied", ...done.right }
      : { kind: "failed", reason: done.left.reason, why: done.left.message };
  port.postMessage(reply);
};

if (parentPort === null) throw new Error("this module runs as a worker thread of the store");
void run(parentPort, workerData);
