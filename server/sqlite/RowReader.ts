/** Reads rows through one connection, on the calling thread, in the shape in which they were written. */
import type { Connection } from "@effect/sql/SqlConnection";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import type { TableName } from "../../core/Tables.ts";
import { type ByteStore, StoreFailure, type StoredRow } from "../../runtime/ByteStore.ts";
import { assertScanLimit } from "../../runtime/MemoryByteStore.ts";
import { type Place, placedOf } from "./Layout.ts";
import { PACKED_SINCE, schemaVersion } from "./Migrations.ts";
import { packKey, unpackKey } from "./PackedKey.ts";
import type { Reader } from "./Reader.ts";
import { rowOf } from "./RowForm.ts";
import { sqliteCode } from "./StoreOpenError.ts";

/** Plain arrays: a Buffer's `slice` would share what an array's copies. */
const plain = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);

interface Columns {
  readonly row: Uint8Array;
  readonly seal: Uint8Array;
}

const columnsOf = (found: unknown): Columns => {
  if (typeof found === "object" && found !== null && "row" in found && "seal" in found) {
    const { row, seal } = found;
    if (row instanceof Uint8Array && seal instanceof Uint8Array) return { row, seal };
  }
  throw new TypeError("a stored row is not bytes");
};

const storedRow = (found: unknown): StoredRow => {
  const { row, seal } = columnsOf(found);
  return { row: plain(row), seal: plain(seal) };
};

/** A row that is not in its form is given as one of which the seal does not hold: who reads it says which it is. */
const packedRow = (key: string, found: unknown): StoredRow => {
  const { row, seal } = columnsOf(found);
  return { row: rowOf(key, row), seal: plain(seal) };
};

const columnOf = (found: unknown): unknown =>
  typeof found === "object" && found !== null && "key" in found ? found.key : undefined;

const plainKey = (found: unknown): string => {
  const key = columnOf(found);
  if (typeof key === "string") return key;
  throw new TypeError("a stored key is not text");
};

const packedKey = (found: unknown): string => {
  const key = columnOf(found);
  if (key instanceof Uint8Array) return unpackKey(key);
  throw new TypeError("a stored key is not bytes");
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

const statementsOn = (place: Place) => ({
  get: `SELECT row, seal FROM ${place} WHERE name = ? AND key = ?`,
  scan: `SELECT key, row, seal FROM ${place} WHERE name = ? AND key > ? ORDER BY key LIMIT ?`,
  keys: `SELECT key FROM ${place} WHERE name = ? AND key >= ? ORDER BY key LIMIT ?`,
});
const statements = {
  records: statementsOn("records"),
  links: statementsOn("links"),
  working: statementsOn("working"),
};

/** Where a table's rows are in a database of a version, and whether they are packed there. */
const foundIn = (table: TableName, version: number) => {
  const { place, name } = placedOf(table);
  if (place === "working") return { ...statements.working, name: table, isPacked: false } as const;
  if (version < PACKED_SINCE) return { ...statements.records, name: table, isPacked: false } as const;
  return { ...statements[place], name, isPacked: true } as const;
};

/**
 * The reading half of a {@link ByteStore}; all throw {@link StoreFailure} when the database cannot be read.
 * @param version of its shape: a copy may have an older one
 */
export const rowReader = (ask: Ask, version = schemaVersion): Omit<ByteStore, "commit"> => {
  const tables = new Map<TableName, ReturnType<typeof foundIn>>();
  const of = (table: TableName) => {
    const found = tables.get(table) ?? foundIn(table, version);
    tables.set(table, found);
    return found;
  };
  const read = <A>(
    sql: string,
    parameters: ReadonlyArray<string | number | Uint8Array>,
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
    get: (table: TableName, key: string) => {
      const { get, name, isPacked } = of(table);
      if (!isPacked) return read(get, [name, key], storedRow)[0];
      return read(get, [name, packKey(key)], (found) => packedRow(key, found))[0];
    },
    scan: (table: TableName, after: string, limit: number) => {
      assertScanLimit(limit);
      const { scan, name, isPacked } = of(table);
      if (!isPacked)
        return read(scan, [name, after, limit], (found) => ({ key: plainKey(found), value: storedRow(found) }));
      return read(scan, [name, packKey(after), limit], (found) => {
        const key = packedKey(found);
        return { key, value: packedRow(key, found) };
      });
    },
    keys: (table: TableName, from: string, limit: number) => {
      assertScanLimit(limit);
      const { keys, name, isPacked } = of(table);
      return isPacked ? read(keys, [name, packKey(from), limit], packedKey) : read(keys, [name, from, limit], plainKey);
    },
  };
};
