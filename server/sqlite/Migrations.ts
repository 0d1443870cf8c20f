/** The shape of a peer's database, by numbered steps, and which program a file belongs to. */
import { make as makeMigrator, fromRecord } from "@effect/sql/Migrator";
import * as SqlClient from "@effect/sql/SqlClient";
import type { Connection } from "@effect/sql/SqlConnection";
import type { SqlError } from "@effect/sql/SqlError";
import * as Effect from "effect/Effect";
import { value, values } from "./Database.ts";
import { StoreOpenError } from "./StoreOpenError.ts";

/** "Cust" in the file's header: tells a peer's database from every other. */
const applicationId = 0x43757374;

const migrationsTable = "custody_migrations";
const blocksTable = "blocks";
/** Of new databases. A registration touches some thirty pages, of most of them a few hundred bytes. */
const pageBytes = 2048;

const createTables = (tables: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    for (const table of tables) {
      yield* sql`CREATE TABLE ${sql(table)} (
        name TEXT NOT NULL, key TEXT NOT NULL, row BLOB NOT NULL, seal BLOB NOT NULL, UNIQUE (name, key)
      ) STRICT`;
    }
  });

/**
 * Adds blocks, and where rows say that they are in one (Blocks.ts). Rows that are there stay as they are: their table
 * keeps its second tree, of keys, which a table made here has not.
 */
const addBlocks = (tables: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    const leaving = `UPDATE ${blocksTable} SET rows = rows - 1 WHERE id = old.block;
      DELETE FROM ${blocksTable} WHERE id = old.block AND rows = 0;`;
    yield* sql.unsafe(`CREATE TABLE ${blocksTable} (
      id INTEGER PRIMARY KEY, rows INTEGER NOT NULL, size INTEGER, bytes BLOB NOT NULL) STRICT`);
    for (const table of tables) {
      const [any] = yield* sql`SELECT 1 FROM ${sql(table)} LIMIT 1`;
      if (any === undefined) {
        yield* sql`DROP TABLE ${sql(table)}`;
        yield* sql`CREATE TABLE ${sql(table)} (
          name TEXT NOT NULL, key TEXT NOT NULL, row BLOB NOT NULL, seal BLOB NOT NULL,
          block INTEGER, at INTEGER, size INTEGER, PRIMARY KEY (name, key)
        ) STRICT, WITHOUT ROWID`;
      } else
        for (const column of ["block", "at", "size"])
          yield* sql`ALTER TABLE ${sql(table)} ADD COLUMN ${sql(column)} INTEGER`;
      yield* sql.unsafe(`CREATE TRIGGER ${table}_replaced AFTER UPDATE OF block ON ${table}
        WHEN old.block IS NOT NULL BEGIN ${leaving} END`);
      yield* sql.unsafe(`CREATE TRIGGER ${table}_removed AFTER DELETE ON ${table}
        WHEN old.block IS NOT NULL BEGIN ${leaving} END`);
    }
  });

const migrations = (tables: ReadonlyArray<string>) => ({
  "0001_tables": createTables(tables),
  "0002_blocks": addBlocks(tables),
});

/** The version of the shape that has blocks. */
export const BLOCKS_SINCE = 2;

/** The newest migration this program knows. */
export const schemaVersion = Object.keys(migrations([])).length;

/** Refuses a database of another program; marks an empty one as this program's. Writes nothing into a refused one. */
export const claim = (file: string, connection: Connection): Effect.Effect<void, StoreOpenError | SqlError> =>
  Effect.gen(function* () {
    const found = yield* value(connection, "PRAGMA application_id");
    if (found === applicationId) return;
    const objects = yield* value(connection, "SELECT count(*) FROM sqlite_schema");
    if (found !== 0 || objects !== 0) yield* new StoreOpenError({ reason: "foreign", file });
    yield* values(connection, `PRAGMA page_size = ${pageBytes}`);
    yield* values(connection, `PRAGMA application_id = ${applicationId}`);
  });

/** The version of its shape; 0 before the first. Fails with reason `newer`. */
const versionOf = (file: string, sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    const recorded = yield* sql<{
      readonly name: string;
    }>`SELECT name FROM sqlite_schema WHERE name = ${migrationsTable}`;
    if (recorded.length === 0) return 0;
    const [latest] = yield* sql<{ readonly version: unknown }>`
      SELECT max(migration_id) AS version FROM ${sql(migrationsTable)}`;
    const version = typeof latest?.version === "number" ? latest.version : 0;
    if (version <= schemaVersion) return version;
    const detail = `its schema is version ${version}, this program knows up to ${schemaVersion}`;
    return yield* new StoreOpenError({ reason: "newer", file, detail });
  });

const assertTables = (file: string, sql: SqlClient.SqlClient, tables: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const found = yield* sql<{ readonly name: string }>`
      SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> ${migrationsTable}`;
    const names = new Set(found.map(({ name }) => name));
    const missing = tables.find((table) => !names.has(table));
    const expected = new Set(tables);
    const surplus = found.find(({ name }) => !expected.has(name))?.name;
    if (missing !== undefined) yield* new StoreOpenError({ reason: "schema", file, detail: `missing: ${missing}` });
    if (surplus !== undefined) yield* new StoreOpenError({ reason: "schema", file, detail: `unknown: ${surplus}` });
  });

/**
 * That a database that nobody writes is of this program and of a shape it knows; fails as {@link migrate} does.
 * @returns the version of its shape, which nothing is done about
 */
export const assertOurs = (file: string, client: SqlClient.SqlClient, tables: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const [found] = yield* client<{ readonly id: unknown }>`SELECT application_id AS id FROM pragma_application_id`;
    if (found?.id !== applicationId) yield* new StoreOpenError({ reason: "foreign", file });
    const version = yield* versionOf(file, client);
    yield* assertTables(file, client, version < BLOCKS_SINCE ? tables : [...tables, blocksTable]);
    return version;
  });

/**
 * Brings the database to {@link schemaVersion}: afterwards it holds exactly one table for each of `tables`, and blocks.
 * Fails with reason `newer` when a later version of this program wrote it and `schema` when its tables differ.
 */
export const migrate = (file: string, client: SqlClient.SqlClient, tables: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    yield* versionOf(file, client);
    yield* makeMigrator({})({ loader: fromRecord(migrations(tables)), table: migrationsTable });
    yield* assertTables(file, client, [...tables, blocksTable]);
  }).pipe(Effect.provideService(SqlClient.SqlClient, client));
