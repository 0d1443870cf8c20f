/** Reads rows through one connection, on the calling thread, in the shape in which they were written. */
import type { Connection } from "@effect/sql/SqlConnection";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import type { TableName } from "../../core/Tables.ts";
import { type ByteStore, StoreFailure, type StoredRow } from "../../runtime/ByteStore.ts";
import { assertScanLimit } from "../../runtime/MemoryByteStore.ts";
import { isErased, LEAD_BYTES, type Place, placeOf } from "./Layout.ts";
import type { Reader } from "./Reader.ts";
import { sqliteCode } from "./StoreOpenError.ts";

/** Plain arrays: a Buffer's `slice` would share what an array's copies. */
const plain = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** @param lead bytes that stand before the row */
const storedRow = (found: unknown, lead: number): StoredRow => {
  if (typeof found === "object" && found !== null && "row" in found && "seal" in found) {
    const { row, seal } = found;
    if (row instanceof Uint8Array && seal instanceof Uint8Array)
      return { row: plain(row.subarray(lead)), seal: plain(seal) };
  }
  throw new TypeError("a stored row is not bytes");
};

const storedKey = (found: unknown): string => {
  if (typeof found === "object" && found !== null && "key" in found && typeof found.key === "string") return found.key;
  throw new TypeError("a stored key is not text");
};

const leadOf = (table: TableName): number => (isErased(table) ? LEAD_BYTES : 0);

const rowOf =
  (table: TableName) =>
  (found: unknown): StoredRow =>
    storedRow(found, leadOf(table));

const keyedRowOf =
  (table: TableName) =>
  (found: unknown): { readonly key: string; readonly value: StoredRow } => ({
    key: storedKey(found),
    value: storedRow(found, leadOf(table)),
  });

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

const statementsOn = (place: Place) => ({
  get: `SELECT row, seal FROM ${place} WHERE name = ? AND key = ?`,
  scan: `SELECT key, row, seal FROM ${place} WHERE name = ? AND key > ? ORDER BY key LIMIT ?`,
  keys: `SELECT key FROM ${place} WHERE name = ? AND key >= ? ORDER BY key LIMIT ?`,
});
const statements = { records: statementsOn("records"), working: statementsOn("working") };

/** The reading half of a {@link ByteStore}; all throw {@link StoreFailure} when the database cannot be read. */
export const rowReader = (ask: Ask): Omit<ByteStore, "commit"> => {
  const read = <A>(
    sql: string,
    parameters: ReadonlyArray<string | number>,
    parse: (found: unknown) => A,
  ): ReadonlyArray<A> => {
    try {
      return ask(sql, parameters).map(parse);
    } catch (fault) {
      const why = sqliteCode(fault) ?? "a row has another shape than it was written with";
      throw new StoreFailure(`the database cannot be read: ${why}; check the disk and start this peer again`, {
        cause: fault,
      });
    }
  };
  return {
    get: (table: TableName, key: string) => read(statements[placeOf(table)].get, [table, key], rowOf(table))[0],
    scan: (table: TableName, after: string, limit: number) => {
      assertScanLimit(limit);
      return read(statements[placeOf(table)].scan, [table, after, limit], keyedRowOf(table));
    },
    keys: (table: TableName, from: string, limit: number) => {
      assertScanLimit(limit);
      return read(statements[placeOf(table)].keys, [table, from, limit], storedKey);
    },
  };
};
