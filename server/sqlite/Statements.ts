/** The SQL of one transaction: few statements, each over many rows of one table. */
import type { Change } from "../../runtime/ByteStore.ts";
import type { CommitRequest, RowGroup } from "./WriterMessage.ts";

/** Rows of the largest statement: far below SQLite's limit on variables, and more gains nothing. */
const largestGroup = 64;

export interface RowStatement {
  readonly sql: string;
  readonly parameters: ReadonlyArray<string | Uint8Array>;
  /** The rows it has to change; any other number means a key was missing. */
  readonly rows: number;
}

const repeated = (text: string, times: number): string => Array.from({ length: times }, () => text).join(",");

const sqlOf: { readonly [Op in Change["op"]]: (table: string, rows: number) => string } = {
  insert: (table, rows) => `INSERT INTO "${table}" (row, seal, key) VALUES ${repeated("(?,?,?)", rows)}`,
  // A one-row VALUES would be materialized first, which costs 15 times as much.
  replace: (table, rows) =>
    rows === 1
      ? `UPDATE "${table}" SET row = ?, seal = ? WHERE key = ?`
      : `UPDATE "${table}" AS old SET row = new.column1, seal = new.column2
         FROM (VALUES ${repeated("(?,?,?)", rows)}) AS new WHERE old.key = new.column3`,
  remove: (table, rows) => `DELETE FROM "${table}" WHERE key IN (${repeated("?", rows)})`,
};

/** Powers of two, so that a handful of prepared statements serves every number of rows. */
const sizeFor = (rows: number): number => {
  let size = largestGroup;
  while (size > rows) size /= 2;
  return size;
};

const groupStatements = (group: RowGroup, bytes: Uint8Array, start: number): ReadonlyArray<RowStatement> => {
  const statements: Array<RowStatement> = [];
  let offset = start;
  let size = 0;
  for (let from = 0; from < group.keys.length; from += size) {
    size = sizeFor(group.keys.length - from);
    const parameters: Array<string | Uint8Array> = [];
    for (let index = from; index < from + size; index++) {
      for (const length of group.lengths.slice(2 * index, 2 * index + 2)) {
        parameters.push(bytes.subarray(offset, offset + length));
        offset += length;
      }
      parameters.push(...group.keys.slice(index, index + 1));
    }
    statements.push({ sql: sqlOf[group.op](group.table, size), parameters, rows: size });
  }
  return statements;
};

/** The statements that carry out a request, in any order: no row is touched twice. */
export const statementsOf = ({ groups, bytes }: CommitRequest): ReadonlyArray<RowStatement> => {
  let offset = 0;
  return groups.flatMap((group) => {
    const start = offset;
    offset += group.lengths.reduce((total, length) => total + length, 0);
    return groupStatements(group, bytes, start);
  });
};
