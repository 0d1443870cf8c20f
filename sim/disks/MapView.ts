/** Rows in maps, seen as the protocol sees those of a disk. */
import type { Rows, RowView, TableName } from "../../core/Tables.ts";

export type AnyRow = Rows[TableName];

const byKey = ([left]: readonly [string, AnyRow], [right]: readonly [string, AnyRow]): number =>
  left < right ? -1 : 1;

/** A live view of the maps; each row was put into its table with that table's own row type. */
export const mapView = (tables: ReadonlyMap<TableName, ReadonlyMap<string, AnyRow>>): RowView => ({
  get: <T extends TableName>(table: T, key: string) => tables.get(table)?.get(key) as Rows[T] | undefined,
  scan: <T extends TableName>(table: T, after: string, limit: number) =>
    [...(tables.get(table) ?? [])]
      .filter(([key]) => key > after)
      .toSorted(byKey)
      .slice(0, limit)
      .map(([key, row]) => ({ key, row: row as Rows[T] })),
});
