import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Connection } from "@effect/sql/SqlConnection";
import { Effect, Stream } from "effect";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkpointAll, openClient, settle, value, values } from "./Database.ts";

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "custody-database-"));
  file = join(directory, "test.db");
});
afterEach(() => rmSync(directory, { recursive: true }));

const connect = (access: "read" | "write") => Effect.flatMap(openClient(file, access), (client) => client.reserve);

/** Sets nothing and answers every question with `answer`. */
const deaf = (answer: unknown): Connection => ({
  execute: () => Effect.succeed([]),
  executeRaw: () => Effect.succeed([]),
  executeStream: () => Stream.empty,
  executeValues: () => Effect.succeed([[answer]]),
  executeUnprepared: () => Effect.succeed([]),
});

describe("a connection's settings", () => {
  it("are durable for the writer and read-only for the reader", () => {
    const found = Effect.gen(function* () {
      const writer = yield* connect("write");
      yield* settle(file, writer, "write");
      yield* values(writer, "CREATE TABLE t (x)");
      const reader = yield* connect("read");
      yield* settle(file, reader, "read");
      const refused = yield* Effect.flip(values(reader, "INSERT INTO t VALUES (1)"));
      const names = ["journal_mode", "synchronous", "fullfsync", "checkpoint_fullfsync", "wal_autocheckpoint"];
      const written = yield* Effect.forEach(names, (name) => value(writer, `PRAGMA ${name}`));
      return { written, read: yield* value(reader, "PRAGMA synchronous"), refused };
    }).pipe(Effect.scoped, Effect.runSync);
    expect(found.written).toEqual(["wal", 2, 1, 1, 0]);
    expect(found.read).toBe(2);
    expect(found.refused._tag).toBe("SqlError");
  });

  it.each(["read", "write"] as const)("refuse a %s connection on which they do not hold", (access) => {
    const error = Effect.runSync(Effect.flip(settle(file, deaf("delete"), access)));
    expect(error).toMatchObject({ reason: "not-durable", file });
    expect(error.message).toContain("put the data directory on a local disk");
  });
});

describe("the checkpoint of an open", () => {
  it("fails when another program keeps the log from being emptied", () => {
    const error = Effect.gen(function* () {
      const writer = yield* connect("write");
      yield* settle(file, writer, "write");
      yield* values(writer, "CREATE TABLE t (x)");
      const stranger = yield* connect("read");
      yield* values(stranger, "BEGIN");
      yield* values(stranger, "SELECT * FROM t");
      yield* values(writer, "INSERT INTO t VALUES (1)");
      yield* values(writer, "PRAGMA busy_timeout = 0");
      return yield* Effect.flip(checkpointAll(file, writer));
    }).pipe(Effect.scoped, Effect.runSync);
    expect(error).toMatchObject({ reason: "busy", file });
  });
});
