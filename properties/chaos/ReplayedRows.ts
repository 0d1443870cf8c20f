/** The rows of a peer after its transactions so far: what checkers see of its disk at a past moment. */
import type { RowView, TableName, Write } from "../../core/Tables.ts";
import { type AnyRow, mapView } from "../../sim/disks/MapView.ts";

export class ReplayedRows implements RowView {
  readonly #tables = new Map<TableName, Map<string, AnyRow>>();
  readonly #view = mapView(this.#tables);
  readonly get = this.#view.get;
  readonly scan = this.#view.scan;

  /** An older disk: as it was after these transactions. */
  goBackTo(transactions: ReadonlyArray<{ readonly writes: ReadonlyArray<Write> }>): void {
    this.#tables.clear();
    for (const { writes } of transactions) this.apply(writes);
  }

  apply(writes: ReadonlyArray<Write>): void {
    for (const write of writes) {
      const rows = this.#tables.get(write.table) ?? new Map<string, AnyRow>();
      this.#tables.set(write.table, rows);
      if (write.op === "remove") rows.delete(write.key);
      else rows.set(write.key, write.row);
    }
  }
}
