/** The rows of a peer as its transactions have made them so far: what checkers see of its disk at a moment of the past. */
import type { Rows, RowView, TableName, Write } from "../../core/Tables.ts";

type AnyRow = Rows[TableName];

export class ReplayedRows implements RowView {
  readonly #tables = new Map<TableName, Map<string, AnyRow>>();

  apply(writes: ReadonlyArray<Write>): void {
    for (const write of writes) {
      const rows = this.#tables.get(write.table) ?? new Map<string, AnyRow>();
      this.#tables.set(write.table, rows);
      if (write.op === "remove") rows.delete(write.key);
      else rows.set(write.key, write.row);
    }
  }

  // What lies in a table was written there with the table's own row type.
  readonly get = <T extends TableName>(table: T, key: string): Rows[T] | undefined =>
    this.#tables.get(table)?.get(key) as Rows[T] | undefined;

  readonly scan = <T extends TableName>(
    table: T,
    after: string,
    limit: number,
  ): ReadonlyArray<{ readonly key: string; readonly row: Rows[T] }> =>
    [...(this.#tables.get(table) ?? [])]
      .filter(([key]) => key > after)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .slice(0, limit)
      .map(([key, row]) => ({ key, row: row as Rows[T] }));
}
