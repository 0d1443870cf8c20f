import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openClient, values } from "./Database.ts";
import { claim, migrate, schemaVersion } from "./Migrations.ts";

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "custody-migrations-"));
  file = join(directory, "test.db");
});
afterEach(() => rmSync(directory, { recursive: true }));

const run = (...statements: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const connection = yield* Effect.flatMap(openClient(file, "write"), (client) => client.reserve);
    return yield* Effect.forEach(statements, (sql) => values(connection, sql));
  }).pipe(Effect.scoped, Effect.runSync);

const open = (tables: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const client = yield* openClient(file, "write");
    yield* Effect.scoped(Effect.flatMap(client.reserve, (connection) => claim(file, connection)));
    yield* migrate(file, client, tables);
  }).pipe(Effect.scoped);

const refusal = (tables: ReadonlyArray<string>) => Effect.runSync(Effect.flip(open(tables)));

describe("migrations", () => {
  it("make one strict table for each name, once", () => {
    Effect.runSync(open(["approvers", "keys"]));
    Effect.runSync(open(["approvers", "keys"]));
    const [tables, recorded] = run(
      "SELECT name, strict, wr FROM pragma_table_list WHERE name IN ('approvers', 'keys') ORDER BY name",
      "SELECT migration_id, name FROM custody_migrations",
    );
    expect(tables).toEqual([
      ["approvers", 1, 0],
      ["keys", 1, 0],
    ]);
    expect(recorded).toEqual([[1, "tables"]]);
  });

  it("refuse a database of a newer version by name", () => {
    Effect.runSync(open(["keys"]));
    run(`INSERT INTO custody_migrations (migration_id, name) VALUES (${schemaVersion + 1}, 'later')`);
    expect(refusal(["keys"])).toMatchObject({
      reason: "newer",
      detail: `its schema is version ${schemaVersion + 1}, this program knows up to ${schemaVersion}`,
    });
  });

  it("refuse a database whose tables are not the expected ones", () => {
    Effect.runSync(open(["approvers", "keys"]));
    expect(refusal(["approvers"])).toMatchObject({ reason: "schema", detail: "unknown: keys" });
    expect(refusal(["approvers", "keys", "outbox"])).toMatchObject({ reason: "schema", detail: "missing: outbox" });
  });

  it.each([["CREATE TABLE notes (x)"], ["PRAGMA application_id = 7"]])(
    "leave another program's database alone: %s",
    (sql) => {
      run(sql);
      const before = readFileSync(file);
      expect(refusal(["keys"])).toMatchObject({ _tag: "StoreOpenError", reason: "foreign", file });
      expect(readFileSync(file).equals(before)).toBe(true);
    },
  );

  it("go on where a process died between claiming the file and making the tables", () => {
    Effect.gen(function* () {
      const connection = yield* Effect.flatMap(openClient(file, "write"), (client) => client.reserve);
      yield* claim(file, connection);
    }).pipe(Effect.scoped, Effect.runSync);
    Effect.runSync(open(["keys"]));
    expect(run("SELECT count(*) FROM keys")).toEqual([[[0]]]);
  });
});
