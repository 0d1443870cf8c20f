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

const createTables = (tables: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    for (const table of tables) {
      yield* sql`CREATE TABLE ${sql(table)} (
        name TEXT NOT NULL, key TEXT NOT NULL, row BLOB NOT NULL, seal BLOB NOT NULL, UNIQUE (name, key)
      ) STRICT`;
    }
  });

const migrations = (tables: ReadonlyArray<string>) => ({ "0001_tables": createTables(tables) });

/** The newest migration this program knows. */
export const schemaVersion = Object.keys(migrations([])).length;

/** Refuses a database of another program; marks an empty one as this program's. Writes nothing into a refused one. */
export const claim = (file: string, connection: Connection): Effect.Effect<void, StoreOpenError | SqlError> =>
  Effect.gen(function* () {
    const found = yield* value(connection, "PRAGMA application_id");
    if (found === applicationId) return;
    const objects = yield* value(connection, "SELECT count(*) FROM sqlite_schema");
    if (found !== 0 || objects !== 0) yield* new StoreOpenError({ reason: "foreign", file });
    yield* values(connection, `PRAGMA application_id = ${applicationId}`);
  });

const refuseNewer = (file: string, sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    const recorded = yield* sql<{
      readonly name: string;
    }>`SELECT name FROM sqlite_schema WHERE name = ${migrationsTable}`;
    if (recorded.length === 0) return;
    const [latest] = yield* sql<{ readonly version: unknown }>`
      SELECT max(migration_id) AS version FROM ${sql(migrationsTable)}`;
    if (typeof latest?.version !== "number" || latest.version <= schemaVersion) return;
    const detail = `its schema is version ${latest.version}, this program knows up to ${schemaVersion}`;
    yield* new StoreOpenError({ reason: "newer", file, detail });
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

/** Whether a database that nobody writes is of this program and of a shape it knows; fails as {@link migrate} does. */
export const assertOurs = (file: string, client: SqlClient.SqlClient, tables: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const [found] = yield* client<{ readonly id: unknown }>`SELECT application_id AS id FROM pragma_application_id`;
    if (found?.id !== applicationId) yield* new StoreOpenError({ reason: "foreign", file });
    yield* refuseNewer(file, client);
    yield* assertTables(file, client, tables);
  });

/**
 * Brings the database to {@link schemaVersion}: afterwards it holds exactly one table for each of `tables`.
 * Fails with reason `newer` when a later version of this program wrote it and `schema` when its tables differ.
 */
export const migrate = (file: string, client: SqlClient.SqlClient, tables: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    yield* refuseNewer(file, client);
    yield* makeMigrator({})({ loader: fromRecord(migrations(tables)), table: migrationsTable });
    yield* assertTables(file, client, tables);
  }).pipe(Effect.provideService(SqlClient.SqlClient, client));
