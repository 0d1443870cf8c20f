import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openClient, openingOf, values } from "./Database.ts";
import { claim, migrate, schemaVersion } from "./Migrations.ts";
import { askOver, rowReader } from "./RowReader.ts";

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

const openWithin = (pages: number | undefined) =>
  Effect.gen(function* () {
    const client = yield* openClient(file, "write");
    yield* Effect.scoped(Effect.flatMap(client.reserve, (connection) => claim(file, connection)));
    if (pages !== undefined) yield* client.unsafe(`PRAGMA max_page_count = ${pages}`);
    return yield* migrate(file, client);
  }).pipe(Effect.scoped, (opening) => openingOf(file, opening));

const open = openWithin(undefined);
const refusal = () => Effect.runSync(Effect.flip(open));

/** Of the first version of the shape, as it was made then. */
const makeOld = (...more: ReadonlyArray<string>) => {
  const columns = "name TEXT NOT NULL, key TEXT NOT NULL, row BLOB NOT NULL, seal BLOB NOT NULL, UNIQUE (name, key)";
  Effect.gen(function* () {
    const connection = yield* Effect.flatMap(openClient(file, "write"), (client) => client.reserve);
    yield* claim(file, connection);
  }).pipe(Effect.scoped, Effect.runSync);
  run(
    "CREATE TABLE custody_migrations (migration_id integer PRIMARY KEY NOT NULL, created_at datetime NOT NULL DEFAULT current_timestamp, name VARCHAR(255) NOT NULL)",
    "INSERT INTO custody_migrations (migration_id, name) VALUES (1, 'tables')",
    `CREATE TABLE records (${columns}) STRICT`,
    `CREATE TABLE working (${columns}) STRICT`,
    ...more,
  );
};

const inserted = (table: string, name: string, key: string, row: string) =>
  `INSERT INTO ${table} VALUES ('${name}', '${key}', ${row}, x'02')`;

/** Rows of every kind that grows, many and long enough for several rounds of the conversion. */
const oldRows = (count: number): ReadonlyArray<string> => [
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO records SELECT 'audit', printf('%016d', i), CAST(printf('entry %d ', i) || hex(randomblob(200)) AS BLOB), x'05' FROM n`,
  `INSERT INTO records SELECT 'terms', lower(hex(randomblob(16))) || '/' || key, row, seal FROM records`,
  inserted("records", "keys", "ab", "x'01'"),
  inserted("working", "head", "self", "x'07'"),
];

const rowsIn = (version: number) =>
  Effect.gen(function* () {
    const connection = yield* Effect.flatMap(openClient(file, "read"), (client) => client.reserve);
    const { scan } = rowReader(askOver(connection), version);
    return (["audit", "terms", "keys", "approvers", "head", "outbox"] as const).map((table) =>
      scan(table, "", 10_000).map(({ key, value }) => [key, Buffer.from(value.row).toString("hex"), [...value.seal]]),
    );
  }).pipe(Effect.scoped, Effect.runSync);

const pages = () => Number(run("PRAGMA page_count")[0]?.[0]?.[0]);

describe("migrations", () => {
  it("make one strict table for each place, once", () => {
    expect([Effect.runSync(open), Effect.runSync(open)]).toEqual([true, false]);
    const [tables, recorded] = run(
      "SELECT name, strict, wr FROM pragma_table_list WHERE name IN ('records', 'links', 'working', 'unpacked') ORDER BY name",
      "SELECT migration_id, name FROM custody_migrations",
    );
    expect(tables).toEqual([
      ["links", 1, 1],
      ["records", 1, 0],
      ["working", 1, 0],
    ]);
    expect(recorded).toEqual([
      [1, "tables"],
      [2, "packed"],
    ]);
  });

  it("pack every row of an older database, and leave out what nothing reads", () => {
    makeOld(...oldRows(700), inserted("records", "outbox", "0000000000000001", "x'09'"));
    const before = rowsIn(1);
    expect(before.map(({ length }) => length)).toEqual([700, 700, 1, 0, 1, 0]);
    const size = pages();
    expect(Effect.runSync(open)).toBe(true);
    expect(rowsIn(2)).toEqual(before);
    expect(pages()).toBeLessThan(1.3 * size);
    expect(run("SELECT count(*) FROM records", "PRAGMA integrity_check")).toEqual([[[700]], [["ok"]]]);
  });

  it("leave an older database as it is where there is no room, and go on where there is", () => {
    makeOld(...oldRows(700));
    const before = rowsIn(1);
    expect(Effect.runSync(Effect.flip(openWithin(pages() + 1)))).toMatchObject({
      reason: "disk-full",
      message: expect.stringContaining("cannot grow because the disk is full; free space on it"),
    });
    expect(rowsIn(1)).toEqual(before);
    Effect.runSync(open);
    expect(rowsIn(2)).toEqual(before);
  });

  it("refuse a database of a newer version by name", () => {
    Effect.runSync(open);
    run(`INSERT INTO custody_migrations (migration_id, name) VALUES (${schemaVersion + 1}, 'later')`);
    expect(refusal()).toMatchObject({
      reason: "newer",
      detail: `its schema is version ${schemaVersion + 1}, this program knows up to ${schemaVersion}`,
    });
  });

  it("refuse a database whose tables are not the expected ones, before anything is done to it", () => {
    Effect.runSync(open);
    run("CREATE TABLE notes (x)");
    expect(refusal()).toMatchObject({ reason: "schema", detail: "unknown: notes" });
    run("DROP TABLE notes", "DROP TABLE links");
    expect(refusal()).toMatchObject({ reason: "schema", detail: "missing: links" });
    rmSync(file);
    makeOld("CREATE TABLE links (x)");
    expect(refusal()).toMatchObject({ reason: "schema", detail: "unknown: links" });
  });

  it.each([["CREATE TABLE notes (x)"], ["PRAGMA application_id = 7"]])(
    "leave another program's database alone: %s",
    (sql) => {
      run(sql);
      const before = readFileSync(file);
      expect(refusal()).toMatchObject({ _tag: "StoreOpenError", reason: "foreign", file });
      expect(readFileSync(file).equals(before)).toBe(true);
    },
  );

  it("go on where a process died between claiming the file and making the tables", () => {
    Effect.gen(function* () {
      const connection = yield* Effect.flatMap(openClient(file, "write"), (client) => client.reserve);
      yield* claim(file, connection);
    }).pipe(Effect.scoped, Effect.runSync);
    Effect.runSync(open);
    expect(run("SELECT count(*) FROM records")).toEqual([[[0]]]);
  });
});
