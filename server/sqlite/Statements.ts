/** The SQL of one transaction: few statements, each over many rows. */
import type { Change } from "../../runtime/ByteStore.ts";
import type { Place } from "./Layout.ts";
import type { CommitRequest, RowGroup } from "./WriterMessage.ts";

/** Rows of the largest statement: far below SQLite's limit on variables, and more gains nothing. */
const largestGroup = 64;

export interface RowStatement {
  readonly sql: string;
  readonly parameters: ReadonlyArray<string | Uint8Array>;
  /** The rows it has to change; any other number means that a key was missing. */
  readonly rows: number;
}

const repeated = (text: string, times: number): string => Array.from({ length: times }, () => text).join(",");

const sqlOf: { readonly [Op in Change["op"]]: (place: Place, rows: number) => string } = {
  insert: (place, rows) => `INSERT INTO ${place} (row, seal, name, key) VALUES ${repeated("(?,?,?,?)", rows)}`,
  // A one-row VALUES would be materialized first, which costs 15 times as much.
  replace: (place, rows) =>
    rows === 1
      ? `UPDATE ${place} SET row = ?, seal = ? WHERE name = ? AND key = ?`
      : `UPDATE ${place} AS old SET row = new.column1, seal = new.column2
         FROM (VALUES ${repeated("(?,?,?,?)", rows)}) AS new WHERE old.name = new.column3 AND old.key = new.column4`,
  remove: (place, rows) =>
    rows === 1
      ? `DELETE FROM ${place} WHERE name = ? AND key = ?`
      : `DELETE FROM ${place} WHERE (name, key) IN (VALUES ${repeated("(?,?)", rows)})`,
};

/** Building the text costs more than looking it up, and there are few: place, kind of change and size. */
const sqlTexts = new Map<string, string>();

const sqlFor = (op: Change["op"], place: Place, rows: number): string => {
  const id = `${op} ${place} ${rows}`;
  const sql = sqlTexts.get(id) ?? sqlOf[op](place, rows);
  sqlTexts.set(id, sql);
  return sql;
};

/** The changes of a transaction of one registration go into one statement for each table and kind. */
const largestExact = 8;

/** Beyond that powers of two, so that a handful of prepared statements serves every number of rows. */
const sizeFor = (rows: number): number => {
  if (rows <= largestExact) return rows;
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
      parameters.push(...group.tables.slice(index, index + 1), ...group.keys.slice(index, index + 1));
    }
    statements.push({ sql: sqlFor(group.op, group.place, size), parameters, rows: size });
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
