/**
 * What a process read before its rows were verified, its state above all: every row as it lay there, and which were
 * not there. The rows that are verified later must be the same, or somebody has exchanged the disk in between.
 */
import { sameBytes } from "../core/codec/Bytes.ts";
import type { TableName } from "../core/Tables.ts";
import type { StoredRow } from "./ByteStore.ts";

interface Page {
  readonly after: string;
  /** The last key of a full page; undefined where the table ended. */
  readonly upTo: string | undefined;
}

interface TableRead {
  /** Undefined where there was no row. */
  readonly rows: Map<string, StoredRow | undefined>;
  readonly pages: Array<Page>;
}

const isSame = (before: StoredRow | undefined, now: StoredRow | undefined): boolean =>
  before === undefined || now === undefined
    ? before === now
    : sameBytes(before.row, now.row) && sameBytes(before.seal, now.seal);

const changed = (table: TableName, key: string): string =>
  `${table}/${key}: it is not what it was when this peer was started; start it again`;

export class ReadAtStart {
  readonly #tables = new Map<TableName, TableRead>();
  /** Where two reads of one row differed. */
  #contradiction: string | undefined;

  /** Takes note of a row, or that there is none. */
  note(table: TableName, key: string, stored: StoredRow | undefined): void {
    const { rows } = this.#of(table);
    if (rows.has(key) && !isSame(rows.get(key), stored)) this.#contradiction ??= changed(table, key);
    rows.set(key, stored);
  }

  /** Takes note of all rows with a key greater than `after`, up to `limit` of them. */
  notePage(
    table: TableName,
    after: string,
    limit: number,
    page: ReadonlyArray<{ readonly key: string; readonly value: StoredRow }>,
  ): void {
    for (const { key, value } of page) this.note(table, key, value);
    this.#of(table).pages.push({ after, upTo: page.length < limit ? undefined : page.at(-1)?.key });
  }

  /** Rows that were asked for by key. */
  get keys(): ReadonlyArray<{ readonly table: TableName; readonly key: string }> {
    return [...this.#tables].flatMap(([table, { rows }]) => [...rows.keys()].map((key) => ({ table, key })));
  }

  /** Stretches of tables that were asked for, each up to and with its last key, or to the end of its table. */
  get pages(): ReadonlyArray<Page & { readonly table: TableName }> {
    return [...this.#tables].flatMap(([table, { pages }]) => pages.map((page) => ({ table, ...page })));
  }

  /** Compares all rows that are there now where something was read, each told once, with what was read. */
  comparison(): Comparison {
    return new Comparison(this.#tables, this.#contradiction);
  }

  #of(table: TableName): TableRead {
    const known = this.#tables.get(table);
    if (known !== undefined) return known;
    const read: TableRead = { rows: new Map(), pages: [] };
    this.#tables.set(table, read);
    return read;
  }
}

/** One look at all rows where something was read. */
export class Comparison {
  readonly #tables: ReadonlyMap<TableName, TableRead>;
  readonly #found = new Set<string>();
  #difference: string | undefined;

  constructor(tables: ReadonlyMap<TableName, TableRead>, contradiction: string | undefined) {
    this.#tables = tables;
    this.#difference = contradiction;
  }

  /** A row as it is now. */
  tell(table: TableName, key: string, stored: StoredRow): void {
    const read = this.#tables.get(table);
    if (read === undefined) return;
    const wasLookedFor =
      read.rows.has(key) || read.pages.some(({ after, upTo }) => key > after && (upTo === undefined || key <= upTo));
    if (!wasLookedFor) return;
    if (!isSame(read.rows.get(key), stored)) this.#difference ??= changed(table, key);
    this.#found.add(`${table}/${key}`);
  }

  /** Once all these rows were told: the first that differs from what was read, or undefined. */
  difference(): string | undefined {
    if (this.#difference !== undefined) return this.#difference;
    for (const [table, { rows }] of this.#tables)
      for (const [key, stored] of rows)
        if (stored !== undefined && !this.#found.has(`${table}/${key}`)) return changed(table, key);
    return undefined;
  }
}
