/** The shape of a peer's database, by numbered steps, and which program a file belongs to. */
import { make as makeMigrator, fromRecord } from "@effect/sql/Migrator";
import * as SqlClient from "@effect/sql/SqlClient";
import type { Connection } from "@effect/sql/SqlConnection";
import type { SqlError } from "@effect/sql/SqlError";
import * as Effect from "effect/Effect";
import { value, values } from "./Database.ts";
import type { TableName } from "../../core/Tables.ts";
import type { Change } from "../../runtime/ByteStore.ts";
import { placedOf, places } from "./Layout.ts";
import { statementsOf } from "./Statements.ts";
import { StoreOpenError } from "./StoreOpenError.ts";
import { commitRequest } from "./WriterMessage.ts";

/** "Cust" in the file's header: tells a peer's database from every other. */
const applicationId = 0x43757374;

const migrationsTable = "custody_migrations";

/** The places of each version of the shape. */
const placesOf = (version: number): ReadonlyArray<string> => (version < PACKED_SINCE ? ["records", "working"] : places);

const createTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  for (const table of placesOf(1)) {
    yield* sql`CREATE TABLE ${sql(table)} (
        name TEXT NOT NULL, key TEXT NOT NULL, row BLOB NOT NULL, seal BLOB NOT NULL, UNIQUE (name, key)
      ) STRICT`;
  }
});

/** Rows that are converted at a time: they may be long. */
const CONVERTED = 256;

interface OldRow {
  readonly id: number;
  readonly name: TableName;
  readonly key: string;
  readonly row: Uint8Array;
  readonly seal: Uint8Array;
}

/**
 * Packs keys and rows of what grows. All in one transaction, which needs room for what it writes until it ends: what
 * is converted goes at once, so that the file hardly grows. Rows that nothing reads are left out.
 */
const packRecords = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const columns = "name INTEGER NOT NULL, key BLOB NOT NULL, row BLOB NOT NULL, seal BLOB NOT NULL";
  yield* sql`ALTER TABLE records RENAME TO unpacked`;
  yield* sql.unsafe(`CREATE TABLE records (${columns}) STRICT`);
  yield* sql.unsafe(`CREATE TABLE links (${columns}, PRIMARY KEY (name, key)) STRICT, WITHOUT ROWID`);
  for (;;) {
    const rows =
      yield* sql<OldRow>`SELECT rowid AS id, name, key, row, seal FROM unpacked ORDER BY rowid LIMIT ${CONVERTED}`;
    const last = rows.at(-1);
    if (last === undefined) break;
    const changes = rows.flatMap(
      ({ name, key, row, seal }): ReadonlyArray<Change> =>
        placedOf(name).place === "working" ? [] : [{ op: "insert", table: name, key, value: { row, seal } }],
    );
    for (const { sql: text, parameters } of statementsOf(commitRequest(changes))) yield* sql.unsafe(text, parameters);
    yield* sql`DELETE FROM unpacked WHERE rowid <= ${last.id}`;
  }
  yield* sql`CREATE UNIQUE INDEX records_by_key ON records (name, key)`;
  yield* sql`DROP TABLE unpacked`;
});

const migrations = { "0001_tables": createTables, "0002_packed": packRecords };

/** The version of the shape from which on what grows is packed. */
export const PACKED_SINCE = 2;

/** The newest migration this program knows. */
export const schemaVersion = Object.keys(migrations).length;

/** Refuses a database of another program; marks an empty one as this program's. Writes nothing into a refused one. */
export const claim = (file: string, connection: Connection): Effect.Effect<void, StoreOpenError | SqlError> =>
  Effect.gen(function* () {
    const found = yield* value(connection, "PRAGMA application_id");
    if (found === applicationId) return;
    const objects = yield* value(connection, "SELECT count(*) FROM sqlite_schema");
    if (found !== 0 || objects !== 0) yield* new StoreOpenError({ reason: "foreign", file });
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
 * @returns the version of its shape, which stays as it is
 */
export const assertOurs = (file: string, client: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    const [found] = yield* client<{ readonly id: unknown }>`SELECT application_id AS id FROM pragma_application_id`;
    if (found?.id !== applicationId) yield* new StoreOpenError({ reason: "foreign", file });
    const version = yield* versionOf(file, client);
    yield* assertTables(file, client, placesOf(version));
    return version;
  });

/**
 * Brings the database to {@link schemaVersion}: afterwards it holds exactly one table for each place.
 * Fails with reason `newer` when a later version of this program wrote it and `schema` when its tables differ.
 * @returns whether there was anything to do
 */
export const migrate = (file: string, client: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    const version = yield* versionOf(file, client);
    if (version > 0) yield* assertTables(file, client, placesOf(version));
    const done = yield* makeMigrator({})({ loader: fromRecord(migrations), table: migrationsTable });
    yield* assertTables(file, client, places);
    return done.length > 0;
  }).pipe(Effect.provideService(SqlClient.SqlClient, client));
