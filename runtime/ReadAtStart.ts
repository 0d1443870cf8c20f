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

  /** Compares all rows that are there now, each told once, with what was read. */
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

/** One look at all rows. */
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

  /** Once all rows were told: the first that differs from what was read, or undefined. */
  difference(): string | undefined {
    if (this.#difference !== undefined) return this.#difference;
    for (const [table, { rows }] of this.#tables)
      for (const [key, stored] of rows)
        if (stored !== undefined && !this.#found.has(`${table}/${key}`)) return changed(table, key);
    return undefined;
  }
}
