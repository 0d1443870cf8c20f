/** Rows of a table as SQL finds them in a peer's database, for those who meddle with it. */
import type { TableName } from "../../core/Tables.ts";
import { placedOf } from "../../server/sqlite/Layout.ts";

/** The condition that a row is one of this table. */
export const named = (table: TableName): string => {
  const { name } = placedOf(table);
  return typeof name === "number" ? `name = ${name}` : `name = '${name}'`;
};
