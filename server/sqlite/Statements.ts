/** The SQL of one transaction: few statements, each over many rows. */
import type { TableName } from "../../core/Tables.ts";
import type { Change } from "../../runtime/ByteStore.ts";
import { type Block, blocksOf } from "./Blocks.ts";
import { type Place, places } from "./Layout.ts";
import type { CommitRequest, RowGroup } from "./WriterMessage.ts";

/** Rows of the largest statement: far below SQLite's limit on variables, and more gains nothing. */
const largestGroup = 64;

export interface RowStatement {
  readonly sql: string;
  readonly parameters: ReadonlyArray<string | number | null | Uint8Array>;
  /** The rows it has to change; any other number means that a key was missing. */
  readonly rows: number;
}

type Kind = Change["op"] | "insertInBlock" | "replaceInBlock";

const repeated = (text: string, times: number): string => Array.from({ length: times }, () => text).join(",");

/** The block that the statement before has inserted. */
const NEWEST = "(SELECT max(id) FROM blocks)";
const INSERT_BLOCK = "INSERT INTO blocks (rows, size, bytes) VALUES (?,?,?)";

/** The parameters of a row stand in the same order in all of one kind. */
const sqlOf: { readonly [K in Kind]: (place: Place, rows: number) => string } = {
  insert: (place, rows) => `INSERT INTO ${place} (row, seal, name, key) VALUES ${repeated("(?,?,?,?)", rows)}`,
  // A one-row VALUES would be materialized first, which costs 15 times as much.
  replace: (place, rows) =>
    rows === 1
      ? `UPDATE ${place} SET row = ?, seal = ?, block = NULL, at = NULL, size = NULL WHERE name = ? AND key = ?`
      : `UPDATE ${place} AS old SET row = new.column1, seal = new.column2, block = NULL, at = NULL, size = NULL
         FROM (VALUES ${repeated("(?,?,?,?)", rows)}) AS new WHERE old.name = new.column3 AND old.key = new.column4`,
  remove: (place, rows) =>
    rows === 1
      ? `DELETE FROM ${place} WHERE name = ? AND key = ?`
      : `DELETE FROM ${place} WHERE (name, key) IN (VALUES ${repeated("(?,?)", rows)})`,
  insertInBlock: (place, rows) =>
    `INSERT INTO ${place} (row, at, size, seal, name, key, block)
     VALUES ${repeated(`(x'',?,?,?,?,?,${NEWEST})`, rows)}`,
  replaceInBlock: (place, rows) =>
    rows === 1
      ? `UPDATE ${place} SET row = x'', at = ?, size = ?, seal = ?, block = ${NEWEST} WHERE name = ? AND key = ?`
      : `UPDATE ${place} AS old
         SET row = x'', at = new.column1, size = new.column2, seal = new.column3, block = ${NEWEST}
         FROM (VALUES ${repeated("(?,?,?,?,?)", rows)}) AS new WHERE old.name = new.column4 AND old.key = new.column5`,
};

/** Building the text costs more than looking it up, and there are few: place, kind of change and size. */
const sqlTexts = new Map<string, string>();

const sqlFor = (kind: Kind, place: Place, rows: number): string => {
  const id = `${kind} ${place} ${rows}`;
  const sql = sqlTexts.get(id) ?? sqlOf[kind](place, rows);
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

/** One kind of change of many rows, given by the parameters of each. */
const inSizes = (
  kind: Kind,
  place: Place,
  rows: ReadonlyArray<RowStatement["parameters"]>,
): ReadonlyArray<RowStatement> => {
  const statements: Array<RowStatement> = [];
  let size = 0;
  for (let from = 0; from < rows.length; from += size) {
    size = sizeFor(rows.length - from);
    statements.push({ sql: sqlFor(kind, place, size), parameters: rows.slice(from, from + size).flat(), rows: size });
  }
  return statements;
};

interface PutRow {
  readonly op: "insert" | "replace";
  readonly place: Place;
  readonly table: TableName;
  readonly key: string;
  readonly row: Uint8Array;
  readonly seal: Uint8Array;
}

const puts = ["insert", "replace"] as const;

const inlineStatements = (rows: ReadonlyArray<PutRow>): ReadonlyArray<RowStatement> =>
  puts.flatMap((op) =>
    places.flatMap((place) =>
      inSizes(
        op,
        place,
        rows
          .filter((each) => each.op === op && each.place === place)
          .map(({ row, seal, table, key }) => [row, seal, table, key]),
      ),
    ),
  );

const blockStatements = ({ bytes, size, rows }: Block<PutRow>): ReadonlyArray<RowStatement> => [
  { sql: INSERT_BLOCK, parameters: [rows.length, size, bytes], rows: 1 },
  ...puts.flatMap((op) =>
    inSizes(
      op === "insert" ? "insertInBlock" : "replaceInBlock",
      "records",
      rows.filter((each) => each.op === op).map(({ at, row, seal, table, key }) => [at, row.length, seal, table, key]),
    ),
  ),
];

/** The rows that a request writes, in its order. */
const rowsIn = ({ groups, bytes }: CommitRequest): ReadonlyArray<PutRow> => {
  let offset = 0;
  const next = (length = 0): Uint8Array => bytes.subarray(offset, (offset += length));
  return groups.flatMap(({ op, place, tables, keys, lengths }: RowGroup) =>
    op === "remove"
      ? []
      : tables.map((table, index) => {
          const row = next(lengths[2 * index]);
          return { op, place, table, key: keys[index] ?? "", row, seal: next(lengths[2 * index + 1]) };
        }),
  );
};

/** The statements that carry out a request, in this order: rows in a block come after it. No row is touched twice. */
export const statementsOf = (request: CommitRequest): ReadonlyArray<RowStatement> => {
  const { inline, blocks } = blocksOf(rowsIn(request));
  const removed = request.groups.filter(({ op }) => op === "remove");
  return [
    ...inlineStatements(inline),
    ...blocks.flatMap(blockStatements),
    ...removed.flatMap(({ place, tables, keys }) =>
      inSizes(
        "remove",
        place,
        tables.map((table, index) => [table, keys[index] ?? ""]),
      ),
    ),
  ];
};
