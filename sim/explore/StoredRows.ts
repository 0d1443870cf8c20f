/** The rows of one peer as an immutable value: a transaction makes new ones and leaves the old ones as they were. */
import type { Rows, RowView, TableName, Write } from "../../core/Tables.ts";
import { type AnyRow, mapView } from "../disks/MapView.ts";
import { Violation } from "../base/Violation.ts";
import { type Fingerprint, fingerprint, gathered, joined } from "./Fingerprint.ts";

type Table = ReadonlyMap<string, AnyRow>;

/** Tables that only grow, and that no rule reads back. */
const UNREAD: ReadonlySet<TableName> = new Set(["batches", "audit", "head", "seals", "ranges", "vault"]);

const printOf = (name: TableName, rows: Table): Fingerprint => joined(fingerprint(name), fingerprint(rows));

export class StoredRows implements RowView {
  readonly #tables: ReadonlyMap<TableName, Table>;
  /** Of every table that is read back. */
  readonly #prints: ReadonlyMap<TableName, Fingerprint>;
  readonly print: Fingerprint;
  readonly get: RowView["get"];
  readonly scan: RowView["scan"];

  private constructor(tables: ReadonlyMap<TableName, Table>, prints: ReadonlyMap<TableName, Fingerprint>) {
    this.#tables = tables;
    this.#prints = prints;
    this.print = gathered(prints.values());
    ({ get: this.get, scan: this.scan } = mapView(tables));
  }

  /** A copy of what a view shows of some tables. */
  static of(view: RowView, names: ReadonlyArray<TableName>): StoredRows {
    const tables = new Map<TableName, Table>();
    const prints = new Map<TableName, Fingerprint>();
    for (const name of names) {
      const rows = new Map<string, AnyRow>();
      for (const { key, row } of view.scan(name, "", Number.MAX_SAFE_INTEGER)) rows.set(key, row);
      tables.set(name, rows);
      if (!UNREAD.has(name)) prints.set(name, printOf(name, rows));
    }
    return new StoredRows(tables, prints);
  }

  /** Every row of a table with its key, in no order. */
  entries<T extends TableName>(table: T): Iterable<readonly [string, Rows[T]]> {
    return (this.#tables.get(table) ?? new Map()) as ReadonlyMap<string, Rows[T]>;
  }

  /** These rows after a transaction; throws a {@link Violation} when a change does not fit what is there. */
  with(writes: ReadonlyArray<Write>): StoredRows {
    const tables = new Map(this.#tables);
    const changed = new Map<TableName, Map<string, AnyRow>>();
    for (const write of writes) {
      let rows = changed.get(write.table);
      if (rows === undefined) {
        rows = new Map(tables.get(write.table));
        changed.set(write.table, rows);
        tables.set(write.table, rows);
      }
      if (rows.has(write.key) === (write.op === "insert"))
        throw new Violation("S13", `a peer asked to ${write.op} ${write.table}/${write.key}`, "its rows say otherwise");
      if (write.op === "remove") rows.delete(write.key);
      else rows.set(write.key, write.row);
    }
    const prints = new Map(this.#prints);
    for (const [name, rows] of changed) if (!UNREAD.has(name)) prints.set(name, printOf(name, rows));
    return new StoredRows(tables, prints);
  }
}
