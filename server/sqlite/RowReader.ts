/** Reads rows through one connection, on the calling thread, in the shape in which they were written. */
import type { Connection } from "@effect/sql/SqlConnection";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import type { TableName } from "../../core/Tables.ts";
import { type ByteStore, StoreFailure, type StoredRow } from "../../runtime/ByteStore.ts";
import { assertScanLimit } from "../../runtime/MemoryByteStore.ts";
import { BlockReader } from "./Blocks.ts";
import { type Place, placeOf } from "./Layout.ts";
import { BLOCKS_SINCE, schemaVersion } from "./Migrations.ts";
import type { Reader } from "./Reader.ts";
import { sqliteCode } from "./StoreOpenError.ts";

/** Plain arrays: a Buffer's `slice` would share what an array's copies. */
const plain = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const storedRow = (found: unknown, blocks: BlockReader): StoredRow => {
  if (typeof found === "object" && found !== null && "row" in found && "seal" in found) {
    const { row, seal } = found;
    if (row instanceof Uint8Array && seal instanceof Uint8Array)
      return { row: withBlock(plain(row), found, blocks), seal: plain(seal) };
  }
  throw new TypeError("a stored row is not bytes");
};

/** What lies in the row itself and what lies in its block: one of the two, where nobody has meddled with them. */
const withBlock = (row: Uint8Array, found: object, blocks: BlockReader): Uint8Array => {
  if (!("bytes" in found && "whole" in found && "at" in found && "size" in found)) return row;
  const { bytes, whole, at, size } = found;
  if (!(bytes instanceof Uint8Array)) return row;
  const rest = blocks.rowIn(plain(bytes), whole, at, size);
  return row.length === 0 ? rest : new Uint8Array([...row, ...rest]);
};

const storedKey = (found: unknown): string => {
  if (typeof found === "object" && found !== null && "key" in found && typeof found.key === "string") return found.key;
  throw new TypeError("a stored key is not text");
};

/** How rows are asked for; throws what SQLite throws. */
type Ask = Reader["ask"];

/** Asks through a connection of the library. */
export const askOver =
  (connection: Connection): Ask =>
  (sql, parameters) => {
    const exit = Effect.runSyncExit(connection.execute(sql, parameters, undefined));
    if (Exit.isSuccess(exit)) return exit.value;
    throw Cause.squash(exit.cause);
  };

const statementsOn = (place: Place, version: number) => {
  const [columns, from] =
    version < BLOCKS_SINCE
      ? ["row, seal", place]
      : [
          "row, seal, at, of.size AS size, blocks.size AS whole, bytes",
          `${place} AS of LEFT JOIN blocks ON blocks.id = of.block`,
        ];
  return {
    get: `SELECT ${columns} FROM ${from} WHERE name = ? AND key = ?`,
    scan: `SELECT key, ${columns} FROM ${from} WHERE name = ? AND key > ? ORDER BY key LIMIT ?`,
    keys: `SELECT key FROM ${place} WHERE name = ? AND key >= ? ORDER BY key LIMIT ?`,
  };
};

/**
 * The reading half of a {@link ByteStore}; all throw {@link StoreFailure} when the database cannot be read.
 * @param version of the database's shape: a copy may have an older one
 */
export const rowReader = (ask: Ask, version = schemaVersion): Omit<ByteStore, "commit"> => {
  const statements = { records: statementsOn("records", version), working: statementsOn("working", version) };
  const blocks = new BlockReader();
  const row = (found: unknown): StoredRow => storedRow(found, blocks);
  const keyedRow = (found: unknown) => ({ key: storedKey(found), value: row(found) });
  const read = <A>(
    sql: string,
    parameters: ReadonlyArray<string | number>,
    parse: (found: unknown) => A,
  ): ReadonlyArray<A> => {
    try {
      return ask(sql, parameters).map(parse);
    } catch (fault) {
      const why = sqliteCode(fault) ?? "a row has another shape than it was written with";
      throw new StoreFailure(`the database cannot be read: ${why}; check the disk and start this peer again`);
    }
  };
  return {
    get: (table: TableName, key: string) => read(statements[placeOf(table)].get, [table, key], row)[0],
    scan: (table: TableName, after: string, limit: number) => {
      assertScanLimit(limit);
      return read(statements[placeOf(table)].scan, [table, after, limit], keyedRow);
    },
    keys: (table: TableName, from: string, limit: number) => {
      assertScanLimit(limit);
      return read(statements[placeOf(table)].keys, [table, from, limit], storedKey);
    },
  };
};
